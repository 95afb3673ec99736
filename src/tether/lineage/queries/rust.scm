(function_item name: (_) @name parameters: (_) @parameters body: (_) @body) @function
(function_signature_item name: (_) @name parameters: (_) @parameters) @function
(macro_definition name: (_) @name) @function

(struct_item name: (_) @name body: (_)? @body) @class
(enum_item name: (_) @name body: (_) @body) @class
(union_item name: (_) @name body: (_) @body) @class
(trait_item name: (_) @name body: (_) @body) @class
(type_item name: (_) @name type: (_) @body) @class

; Worth a name: what is constant outside of functions.
(const_item name: (_) @name value: (_)? @body) @constant
(static_item name: (_) @name value: (_)? @body) @constant

(impl_item trait: (_) @as type: (generic_type type: (_) @name)) @scope
(impl_item trait: (_) @as type: (_) @name) @scope
(impl_item type: (generic_type type: (_) @name)) @scope
(impl_item type: (_) @name) @scope
(mod_item name: (_) @name body: (_)) @namespace

(attribute_item) @annotation
[(line_comment) (block_comment)] @comment
