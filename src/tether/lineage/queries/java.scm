(class_declaration name: (identifier) @name body: (_) @body) @class
(interface_declaration name: (identifier) @name body: (_) @body) @class
(enum_declaration name: (identifier) @name body: (_) @body) @class
(record_declaration name: (identifier) @name body: (_) @body) @class
(annotation_type_declaration name: (identifier) @name body: (_) @body) @class

(method_declaration
  name: (identifier) @name
  parameters: (formal_parameters) @parameters
  body: (block)? @body) @method
(constructor_declaration
  name: (identifier) @name
  parameters: (formal_parameters) @parameters
  body: (_) @body) @method
(compact_constructor_declaration name: (identifier) @name body: (_) @body) @method
(annotation_type_element_declaration name: (identifier) @name) @method

; Worth a name: fields that never change.
(field_declaration
  (modifiers ["static" "final"] ["static" "final"])
  declarator: (variable_declarator name: (identifier) @name value: (_)? @body) @constant) @_root
(constant_declaration
  declarator: (variable_declarator name: (identifier) @name value: (_)? @body) @constant) @_root
(enum_constant name: (identifier) @name body: (_)? @body) @constant
(field_declaration
  (modifiers ["static" "final"] ["static" "final"])
  type: (_) . declarator: (variable_declarator) @wrapped) @wrapper
(constant_declaration type: (_) . declarator: (variable_declarator) @wrapped) @wrapper

; A class without a name is known by what it is made from.
(object_creation_expression type: (_) @name (class_body) @body) @anonymous

(modifiers [(annotation) (marker_annotation)] @annotation) @_root
[(line_comment) (block_comment)] @comment
