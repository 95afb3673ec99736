(method_declaration name: (_) @name parameters: (_) @parameters body: (_)? @body) @method
(constructor_declaration name: (_) @name parameters: (_) @parameters body: (_)? @body) @method
((destructor_declaration parameters: (_) @parameters body: (_)? @body) @method
  (#set! name "~"))
((indexer_declaration parameters: (_) @parameters accessors: (_)? @body) @method
  (#set! name "this"))
(operator_declaration
  operator: _ @name parameters: (_) @parameters body: (_)? @body) @method
((conversion_operator_declaration parameters: (_) @parameters body: (_)? @body) @method
  (#set! name "operator"))
(local_function_statement name: (_) @name parameters: (_) @parameters body: (_)? @body) @function

; Properties that do something.
(property_declaration
  name: (_) @name
  accessors: (accessor_list (accessor_declaration body: (_))) @body) @method
(property_declaration name: (_) @name value: (arrow_expression_clause) @body) @method

(class_declaration name: (_) @name body: (_)? @body) @class
(interface_declaration name: (_) @name body: (_)? @body) @class
(struct_declaration name: (_) @name body: (_)? @body) @class
(record_declaration name: (_) @name body: (_)? @body) @class
(enum_declaration name: (_) @name body: (_)? @body) @class
(delegate_declaration name: (_) @name) @class

; Worth a name: fields that never change.
((field_declaration
  (modifier) @_modifier
  (variable_declaration (variable_declarator name: (_) @name (_)? @body) @constant)) @_root
  (#eq? @_modifier "const"))
((field_declaration
  (modifier) @_static
  (modifier) @_readonly
  (variable_declaration (variable_declarator name: (_) @name (_)? @body) @constant)) @_root
  (#eq? @_static "static") (#eq? @_readonly "readonly"))
(field_declaration
  (variable_declaration type: (_) . (variable_declarator) @wrapped)) @wrapper

(namespace_declaration name: (_) @name) @namespace
((file_scoped_namespace_declaration name: (_) @name) @namespace (#set! level "0"))

(attribute_list) @annotation
(comment) @comment
