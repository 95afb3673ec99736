; In a quotation or a list they are no sections of this document.
(block_quote (section [(atx_heading) (setext_heading)] @omitted)) @_root
(list_item (section [(atx_heading) (setext_heading)] @omitted)) @_root

((atx_heading (atx_h1_marker) heading_content: (_) @name) @section (#set! level "1"))
((atx_heading (atx_h2_marker) heading_content: (_) @name) @section (#set! level "2"))
((atx_heading (atx_h3_marker) heading_content: (_) @name) @section (#set! level "3"))
((atx_heading (atx_h4_marker) heading_content: (_) @name) @section (#set! level "4"))
((atx_heading (atx_h5_marker) heading_content: (_) @name) @section (#set! level "5"))
((atx_heading (atx_h6_marker) heading_content: (_) @name) @section (#set! level "6"))
((setext_heading heading_content: (_) @name (setext_h1_underline)) @section (#set! level "1"))
((setext_heading heading_content: (_) @name (setext_h2_underline)) @section (#set! level "2"))

((html_block) @comment (#match? @comment "^ *<!--"))
