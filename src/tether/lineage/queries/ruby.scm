(method name: (_) @name parameters: (_)? @parameters body: (_)? @body) @function
(singleton_method
  object: (self)
  name: (_) @name parameters: (_)? @parameters body: (_)? @body) @method
(singleton_method
  object: (_) @receiver
  name: (_) @name parameters: (_)? @parameters body: (_)? @body) @method

(class name: (constant) @name body: (_)? @body) @class
(class name: (scope_resolution scope: (_) @receiver name: (_) @name) body: (_)? @body) @class
(module name: (constant) @name body: (_)? @body) @class
(module name: (scope_resolution scope: (_) @receiver name: (_) @name) body: (_)? @body) @class
(assignment
  left: (constant) @name
  right: (call receiver: (constant) block: (_ (body_statement (method))) @body)) @class
(singleton_class) @scope

; Worth a name: what is constant.
(assignment left: (constant) @name right: (_) @body) @constant
(assignment
  left: (scope_resolution scope: (_) @receiver name: (_) @name) right: (_) @body) @constant

; As in `private def`.
(call !receiver arguments: (argument_list . [(method) (singleton_method)] @wrapped .)) @wrapper

(comment) @comment
