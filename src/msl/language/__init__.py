"""The MSL language as text: from source to syntax tree and back. Nothing here knows what names mean.

- Read a text -> `parser.text_to_ast`, which returns an `ast.File` and all syntax errors; `ast_builder` makes the nodes
- The nodes -> `ast`; numbers, strings and names as they are written -> `literals`; keywords and signs -> `tokens`
- Write a tree -> `printer.ast_to_text`, with the layout of `line_breaks`
- Format a file (`msl fmt`) -> `formatter.format_source`
- Change a spec (`--set PATH=VALUE`) -> `override.text_to_override`, `override.override_text`
- Change a domain or an alternative, and keep the layout -> `edit_space`
- Explain a syntax error -> `mistakes`

The grammar is in `grammar/msl.lark`; Lark is used only in this folder.
"""
