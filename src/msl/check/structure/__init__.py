"""The structure of chains: from expressions to spaces, and the rules that every pipeline must follow.

- The space of a part or chain -> `expressions.Spaces`
- The parameters of a part -> `part_declarations.PartDeclarations`
- Which chain is searched? Which channels does best-first search have? -> `chains`
- Does every path have exactly one learner? -> `roles.broken_paths`
- Which columns does `on` select, and may it stand there? -> `table_columns`
- What remains for a task or a table? -> `step_order.Structure`
"""
