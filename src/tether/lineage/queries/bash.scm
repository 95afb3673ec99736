(function_definition name: (_) @name body: (_) @body) @function

; Worth a name: what is constant outside of functions.
(declaration_command
  "readonly"
  (variable_assignment name: (variable_name) @name value: (_)? @body) @constant) @_root
((declaration_command
  (word) @_flag
  (variable_assignment name: (variable_name) @name value: (_)? @body) @constant) @_root
  (#match? @_flag "^-[a-zA-Z]*r"))
(declaration_command . (word)? . (variable_assignment) @wrapped) @wrapper

(comment) @comment
