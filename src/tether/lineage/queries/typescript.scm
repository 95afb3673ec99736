(function_signature name: (identifier) @name parameters: (_) @parameters) @function
(method_signature name: (_) @name parameters: (_) @parameters) @method
(abstract_method_signature name: (_) @name parameters: (_) @parameters) @method
((construct_signature parameters: (_) @parameters) @method (#set! name "new"))
(public_field_definition
  name: [(property_identifier) (private_property_identifier)] @name
  value: [
    (arrow_function parameters: (_) @parameters body: (_) @body)
    (arrow_function parameter: (_) @parameters body: (_) @body)
    (function_expression parameters: (_) @parameters body: (_) @body)
  ]) @method

(abstract_class_declaration name: (_) @name body: (_) @body) @class
(interface_declaration name: (_) @name body: (_) @body) @class
(enum_declaration name: (_) @name body: (_) @body) @class
(type_alias_declaration name: (_) @name value: (_) @body) @class

; Worth a name: fields that never change.
((public_field_definition
  name: [(property_identifier) (private_property_identifier)] @name value: (_) @body) @constant
  (#match? @name "^#?_*[A-Z][A-Z0-9_]*$"))
(public_field_definition
  "static" "readonly"
  name: [(property_identifier) (private_property_identifier)] @name value: (_) @body) @constant
(ambient_declaration
  (lexical_declaration kind: "const" (variable_declarator name: (identifier) @name) @constant)) @_root

(internal_module name: [(identifier) (nested_identifier)] @name) @namespace
(module name: [(identifier) @name (nested_identifier) @name (string (string_fragment) @name)]) @namespace

; A class without a name is known by what it extends.
(class !name (class_heritage (extends_clause value: (_) @name)) body: (_) @body) @anonymous

(ambient_declaration (_) @wrapped) @wrapper
(ambient_declaration (lexical_declaration . (variable_declarator) @wrapped) @wrapper) @_root
