"""The MSL language as text: from source to syntax tree and back. Nothing here knows what names mean.

- Read a text -> `parser.text_to_ast`, which returns an `ast.File` and all syntax errors
- The nodes -> `ast`; numbers, strings and names as they are written -> `literals`; keywords and signs -> `tokens`
- Write a tree -> `printer.ast_to_text`; format a file (`msl fmt`) -> `formatter.format_source`
- Change a spec (`--set PATH=VALUE`) -> `edit.text_to_override`, `edit.override_text`
- Explain a syntax error -> `mistakes`

The grammar is in `grammar/msl.lark`; Lark is used only in this folder.
"""
