(function_definition
  declarator: [
    (function_declarator declarator: (identifier) @name parameters: (_) @parameters)
    (_ (function_declarator declarator: (identifier) @name parameters: (_) @parameters))
    (_ (_ (function_declarator declarator: (identifier) @name parameters: (_) @parameters)))
    ; It returns a pointer to a function.
    (function_declarator
      declarator: (parenthesized_declarator
        (pointer_declarator
          declarator: (function_declarator
            declarator: (identifier) @name parameters: (_) @parameters))))
  ]
  body: (_)? @body) @function
(preproc_function_def name: (_) @name parameters: (_) @parameters value: (_)? @body) @function

; A structure in a type definition is known by the name of the type.
(type_definition type: [(struct_specifier) (union_specifier) (enum_specifier)] @omitted) @_root
(type_definition type: [(struct_specifier !body) (union_specifier !body)]
  declarator: (type_identifier)) @omitted
(type_definition
  type: [
    (struct_specifier body: (_) @body)
    (union_specifier body: (_) @body)
    (enum_specifier body: (_) @body)
  ]
  declarator: (type_identifier) @name) @class
(type_definition
  declarator: [
    (type_identifier) @name
    (_ declarator: (type_identifier) @name)
    (function_declarator
      declarator: (parenthesized_declarator (pointer_declarator declarator: (_) @name)))
  ]) @class
(struct_specifier name: (type_identifier) @name body: (_) @body) @class
(union_specifier name: (type_identifier) @name body: (_) @body) @class
(enum_specifier name: (type_identifier) @name body: (_) @body) @class

; Worth a name: what is constant outside of functions.
(preproc_def name: (_) @name value: (_) @body) @constant
(declaration
  (type_qualifier ["const" "constexpr"])
  declarator: (init_declarator
    declarator: [
      (identifier) @name
      (_ declarator: (identifier) @name)
      (_ declarator: (_ declarator: (identifier) @name))
    ]
    value: (_) @body) @constant) @_root
(declaration
  (type_qualifier ["const" "constexpr"])
  type: (_)
  . declarator: (init_declarator) @wrapped) @wrapper

(comment) @comment
