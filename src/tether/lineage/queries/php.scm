(function_definition name: (_) @name parameters: (_) @parameters body: (_) @body) @function
(method_declaration name: (_) @name parameters: (_) @parameters body: (_)? @body) @method
(assignment_expression
  left: (variable_name (name) @name)
  right: [
    (anonymous_function parameters: (_) @parameters body: (_) @body)
    (arrow_function parameters: (_) @parameters body: (_) @body)
  ]) @function

(class_declaration name: (_) @name body: (_) @body) @class
(interface_declaration name: (_) @name body: (_) @body) @class
(trait_declaration name: (_) @name body: (_) @body) @class
(enum_declaration name: (_) @name body: (_) @body) @class

; A class without a name is known by what it extends.
(anonymous_class (base_clause (_) @name) body: (_)) @anonymous
((anonymous_class body: (_)) @scope (#set! name "<class>"))

; Worth a name: what is constant outside of functions.
(const_declaration (const_element . (name) @name (_) @body) @constant) @_root
((function_call_expression
  function: (name) @_define
  arguments: (arguments . (argument (string (string_content) @name)) . (argument) @body)) @constant
  (#eq? @_define "define"))
(const_declaration . (const_element) @wrapped) @wrapper
(const_declaration (visibility_modifier) . (const_element) @wrapped) @wrapper
(const_declaration type: (_) . (const_element) @wrapped) @wrapper

(namespace_definition name: (_) @name body: (_)) @namespace
((namespace_definition name: (_) @name !body) @namespace (#set! level "0"))

(attribute_group) @annotation
(comment) @comment
