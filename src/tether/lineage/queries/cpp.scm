; What C++ has beyond C. A function may be defined outside of its class: `A::B::name`.
(function_definition
  declarator: [
    (function_declarator
      declarator: [
        (field_identifier) @name
        (destructor_name) @name
        (operator_name) @name
        (template_function name: (_) @name)
        (template_method name: (_) @name)
      ]
      parameters: (_) @parameters)
    (_
      (function_declarator
        declarator: [
          (field_identifier) @name
          (operator_name) @name
          (template_function name: (_) @name)
        ]
        parameters: (_) @parameters))
  ]
  body: (_)? @body) @function
(function_definition
  declarator: [
    (function_declarator
      declarator: (qualified_identifier
        scope: (_) @receiver
        name: [
          (identifier) @name
          (destructor_name) @name
          (operator_name) @name
          (template_function name: (_) @name)
          (qualified_identifier
            scope: (_) @receiver
            name: [
              (identifier) @name
              (destructor_name) @name
              (operator_name) @name
              (template_function name: (_) @name)
              (qualified_identifier scope: (_) @receiver name: (_) @name)
            ])
        ])
      parameters: (_) @parameters)
    (_
      (function_declarator
        declarator: (qualified_identifier
          scope: (_) @receiver
          name: [
            (identifier) @name
            (operator_name) @name
            (template_function name: (_) @name)
            (qualified_identifier
              scope: (_) @receiver
              name: [
                (identifier) @name
                (operator_name) @name
                (template_function name: (_) @name)
                (qualified_identifier scope: (_) @receiver name: (_) @name)
              ])
          ])
        parameters: (_) @parameters))
  ]
  body: (_)? @body) @method
((function_definition
  declarator: (operator_cast
    declarator: (abstract_function_declarator parameters: (_) @parameters))
  body: (_)? @body) @method
  (#set! name "operator"))

; Methods that are only declared.
(field_declaration
  declarator: [
    (function_declarator
      declarator: [(field_identifier) (operator_name)] @name parameters: (_) @parameters)
    (_
      (function_declarator
        declarator: [(field_identifier) (operator_name)] @name parameters: (_) @parameters))
  ]) @method
(field_declaration_list
  (declaration
    declarator: (function_declarator declarator: (_) @name parameters: (_) @parameters)) @method) @_root

(class_specifier name: (type_identifier) @name body: (_) @body) @class
(class_specifier name: (template_type name: (_) @name) body: (_) @body) @class
(struct_specifier name: (template_type name: (_) @name) body: (_) @body) @class
(class_specifier
  name: (qualified_identifier scope: (_) @receiver name: (_) @name) body: (_) @body) @class
(struct_specifier
  name: (qualified_identifier scope: (_) @receiver name: (_) @name) body: (_) @body) @class
(alias_declaration name: (_) @name type: (_) @body) @class
(concept_definition name: (_) @name) @class

(field_declaration
  (type_qualifier ["const" "constexpr"])
  declarator: (field_identifier) @name
  default_value: (_) @body) @constant

(namespace_definition name: (_)? @name) @namespace

(template_declaration parameters: (_) (_) @wrapped .) @wrapper

(attribute_declaration) @annotation
