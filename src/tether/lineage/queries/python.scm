(function_definition
  name: (identifier) @name
  parameters: (parameters) @parameters
  body: (block . (expression_statement (string) @documentation)?) @body) @function

(class_definition
  name: (identifier) @name
  body: (block . (expression_statement (string) @documentation)?) @body) @class

(type_alias_statement left: (type) @name right: (_) @body) @class

; Worth a name: what stands outside of functions in capitals, as constants do.
((assignment left: (identifier) @name right: (_) @body) @constant
  (#match? @name "^_*[A-Z][A-Z0-9_]*$"))

(decorator) @annotation
(comment) @comment
