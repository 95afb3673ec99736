(field_definition
  property: [(property_identifier) (private_property_identifier)] @name
  value: [
    (arrow_function parameters: (_) @parameters body: (_) @body)
    (arrow_function parameter: (_) @parameters body: (_) @body)
    (function_expression parameters: (_) @parameters body: (_) @body)
  ]) @method
((field_definition
  property: [(property_identifier) (private_property_identifier)] @name value: (_) @body) @constant
  (#match? @name "^#?_*[A-Z][A-Z0-9_]*$"))

; A class without a name is known by what it extends.
(class !name (class_heritage (_) @name) body: (_) @body) @anonymous
