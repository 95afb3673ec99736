(function_declaration
  [
    (user_type . (identifier) @receiver)
    (nullable_type (user_type . (identifier) @receiver))
  ]
  . name: (identifier) @name
  (function_value_parameters) @parameters
  (function_body)? @body) @method
(function_declaration
  name: (identifier) @name
  (function_value_parameters) @parameters
  (function_body)? @body) @function
((secondary_constructor (function_value_parameters) @parameters (block)? @body) @method
  (#set! name "constructor"))

(class_declaration
  name: (identifier) @name [(class_body) (enum_class_body)]? @body) @class
(object_declaration name: (identifier) @name (class_body)? @body) @class
(type_alias type: (identifier) @name) @class

(companion_object name: (identifier) @name) @scope
((companion_object) @scope (#set! name "Companion"))

; An object without a name is known by what it is.
(object_literal (delegation_specifiers (delegation_specifier (_) @name))) @anonymous

; Worth a name: what is constant.
((property_declaration
  (modifiers (property_modifier) @_modifier)
  (variable_declaration . (identifier) @name) (_)? @body) @constant
  (#eq? @_modifier "const"))
([
  (source_file
    (property_declaration "val" (variable_declaration . (identifier) @name) (_)? @body) @constant)
  (ERROR
    (property_declaration "val" (variable_declaration . (identifier) @name) (_)? @body) @constant)
] @_root)

(modifiers (annotation) @annotation) @_root
[(line_comment) (block_comment)] @comment
