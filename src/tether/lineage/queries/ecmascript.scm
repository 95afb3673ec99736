; What JavaScript and TypeScript have in common. The first pattern for a node counts: what is a
; function is no constant, and what is a constant is no mere scope.

(function_declaration
  name: (identifier) @name parameters: (_) @parameters body: (_) @body) @function
(generator_function_declaration
  name: (identifier) @name parameters: (_) @parameters body: (_) @body) @function
(method_definition
  name: [
    (property_identifier) @name
    (private_property_identifier) @name
    (computed_property_name) @name
    (number) @name
    (string (string_fragment) @name)
  ]
  parameters: (_) @parameters
  body: (_) @body) @method

; Functions that are values.
(variable_declarator
  name: (identifier) @name
  value: [
    (arrow_function parameters: (_) @parameters body: (_) @body)
    (arrow_function parameter: (_) @parameters body: (_) @body)
    (function_expression parameters: (_) @parameters body: (_) @body)
    (generator_function parameters: (_) @parameters body: (_) @body)
  ]) @function
(pair
  key: [(property_identifier) @name (string (string_fragment) @name)]
  value: [
    (arrow_function parameters: (_) @parameters body: (_) @body)
    (arrow_function parameter: (_) @parameters body: (_) @body)
    (function_expression parameters: (_) @parameters body: (_) @body)
    (generator_function parameters: (_) @parameters body: (_) @body)
  ]) @method
((assignment_expression
  left: (member_expression
    object: (member_expression object: (_) @receiver property: (_) @_prototype)
    property: (_) @name)
  right: [
    (arrow_function parameters: (_) @parameters body: (_) @body)
    (arrow_function parameter: (_) @parameters body: (_) @body)
    (function_expression parameters: (_) @parameters body: (_) @body)
    (generator_function parameters: (_) @parameters body: (_) @body)
  ]) @method
  (#eq? @_prototype "prototype"))
(assignment_expression
  left: (member_expression
    object: [(this) (identifier) @receiver (member_expression) @receiver]
    property: (_) @name)
  right: [
    (arrow_function parameters: (_) @parameters body: (_) @body)
    (arrow_function parameter: (_) @parameters body: (_) @body)
    (function_expression parameters: (_) @parameters body: (_) @body)
    (generator_function parameters: (_) @parameters body: (_) @body)
  ]) @method
(assignment_expression
  left: (identifier) @name
  right: [
    (arrow_function parameters: (_) @parameters body: (_) @body)
    (arrow_function parameter: (_) @parameters body: (_) @body)
    (function_expression parameters: (_) @parameters body: (_) @body)
    (generator_function parameters: (_) @parameters body: (_) @body)
  ]) @function
(export_statement
  value: [
    (function_expression !name parameters: (_) @parameters body: (_) @body)
    (arrow_function parameters: (_) @parameters body: (_) @body)
    (arrow_function parameter: (_) @parameters body: (_) @body)
  ] @function
  (#set! name "default")) @_root

(variable_declarator value: (class) @omitted) @_root
(assignment_expression right: (class) @omitted) @_root
(class_declaration name: (_) @name body: (_) @body) @class
(variable_declarator name: (identifier) @name value: (class body: (_) @body)) @class
(assignment_expression
  left: [
    (identifier) @name
    (member_expression object: (_) @receiver property: (_) @name)
  ]
  right: (class body: (_) @body)) @class
((export_statement value: (class !name body: (_) @body) @class) @_root (#set! name "default"))

; Tests are functions whose names are sentences.
((call_expression
  function: (_) @_test
  arguments: (arguments
    . [(string) @name (template_string . (string_fragment) @name)]
    [(arrow_function body: (_) @body) (function_expression body: (_) @body)])) @class
  (#match? @_test "^[xf]?(describe|context|suite)\\b"))
((call_expression
  function: (_) @_test
  arguments: (arguments
    . [(string) @name (template_string . (string_fragment) @name)]
    [(arrow_function body: (_) @body) (function_expression body: (_) @body)])) @function
  (#match? @_test "^[xf]?(it|test|specify)\\b"))

; Objects with functions in them are as good as classes, and so is what a class is made from by a
; call: `Dog = Animal.extend({...})`.
(variable_declarator
  name: (identifier) @name
  value: (object [
    (method_definition)
    (pair value: [(arrow_function) (function_expression) (generator_function)])
  ]) @body) @class
(assignment_expression
  left: [
    (identifier) @name
    (member_expression
      object: [(this) (identifier) @receiver (member_expression) @receiver] property: (_) @name)
  ]
  right: (object [
    (method_definition)
    (pair value: [(arrow_function) (function_expression) (generator_function)])
  ]) @body) @class
((export_statement
  value: (object [
    (method_definition)
    (pair value: [(arrow_function) (function_expression) (generator_function)])
  ]) @body @class) @_root
  (#set! name "default"))
((variable_declarator
  name: (identifier) @name
  value: (call_expression arguments: (arguments (object [
    (method_definition)
    (pair value: [(arrow_function) (function_expression) (generator_function)])
  ]) @body))) @class
  (#match? @name "^_*[A-Z]"))
((assignment_expression
  left: [
    (identifier) @name
    (member_expression
      object: [(this) (identifier) @receiver (member_expression) @receiver] property: (_) @name)
  ]
  right: (call_expression arguments: (arguments (object [
    (method_definition)
    (pair value: [(arrow_function) (function_expression) (generator_function)])
  ]) @body))) @class
  (#match? @name "^_*[A-Z]|^exports$"))

; What is only imported is defined elsewhere.
((variable_declarator
  value: [
    (call_expression function: (identifier) @_require)
    (member_expression object: (call_expression function: (identifier) @_require))
  ]) @omitted
  (#eq? @_require "require"))

; Worth a name: what is constant at the top of a module.
[
  (program
    (lexical_declaration
      kind: "const" (variable_declarator name: (identifier) @name value: (_) @body) @constant))
  (export_statement
    (lexical_declaration
      kind: "const" (variable_declarator name: (identifier) @name value: (_) @body) @constant))
  (ERROR
    (lexical_declaration
      kind: "const" (variable_declarator name: (identifier) @name value: (_) @body) @constant))
] @_root
([
  (program
    (variable_declaration
      (variable_declarator name: (identifier) @name value: (_) @body) @constant))
  (program
    (lexical_declaration
      (variable_declarator name: (identifier) @name value: (_) @body) @constant))
  (export_statement
    (variable_declaration
      (variable_declarator name: (identifier) @name value: (_) @body) @constant))
  (export_statement
    (lexical_declaration
      (variable_declarator name: (identifier) @name value: (_) @body) @constant))
] @_root
  (#match? @name "^_*[A-Z][A-Z0-9_]*$"))

; Objects, which methods belong to.
(variable_declarator name: (identifier) @name value: (object)) @scope
(variable_declarator
  name: (identifier) @name value: (call_expression arguments: (arguments (object)))) @scope
(pair key: [(property_identifier) @name (string (string_fragment) @name)] value: (object)) @scope
(assignment_expression left: (_) @name right: (object)) @scope
(assignment_expression
  left: (_) @name right: (call_expression arguments: (arguments (object)))) @scope

(export_statement declaration: (_) @wrapped) @wrapper
(export_statement value: (_) @wrapped) @wrapper
(lexical_declaration
  . (variable_declarator
    value: [(arrow_function) (function_expression) (generator_function) (class) (object)]) @wrapped
) @wrapper
(variable_declaration
  . (variable_declarator
    value: [(arrow_function) (function_expression) (generator_function) (class) (object)]) @wrapped
) @wrapper
[
  (program (lexical_declaration . (variable_declarator) @wrapped) @wrapper)
  (program (variable_declaration . (variable_declarator) @wrapped) @wrapper)
  (export_statement (lexical_declaration . (variable_declarator) @wrapped) @wrapper)
  (export_statement (variable_declaration . (variable_declarator) @wrapped) @wrapper)
  (ERROR (lexical_declaration . (variable_declarator) @wrapped) @wrapper)
] @_root

(decorator) @annotation
[(comment) (html_comment)] @comment
