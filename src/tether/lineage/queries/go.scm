(function_declaration
  name: (_) @name parameters: (_) @parameters body: (_)? @body) @function
(method_declaration
  receiver: (parameter_list
    (parameter_declaration
      type: [
        (type_identifier) @receiver
        (generic_type type: (_) @receiver)
        (pointer_type (type_identifier) @receiver)
        (pointer_type (generic_type type: (_) @receiver))
      ]))
  name: (_) @name
  parameters: (_) @parameters
  body: (_)? @body) @method
(method_elem name: (_) @name parameters: (_) @parameters) @method

(type_spec name: (_) @name type: (_) @body) @class
(type_alias name: (_) @name type: (_) @body) @class

; Worth a name: constants and variables of the package.
(const_spec
  . name: (identifier) @name ("," name: (identifier) @also)* value: (_)? @body) @constant
(var_spec
  . name: (identifier) @name ("," name: (identifier) @also)* value: (_)? @body) @constant

(type_declaration . [(type_spec) (type_alias)] @wrapped .) @wrapper
(const_declaration . (const_spec) @wrapped .) @wrapper
(var_declaration . (var_spec) @wrapped .) @wrapper

(comment) @comment
