"""Tables: read from files, arrays and frames, and checked.

a file, array or frame as a table       read.read_table; read.read_like for a second table like it
what a table is                         table.Table, table.Schema
what the user says about the data       options.DataOptions
what is wrong with a table              data_errors.DataError, data_errors.DataProblem
a file format                           formats/, one module each; registry finds it, table_format says what it is
the kinds of columns, missing values    infer
the target, the task and the classes    target
options for a first look at a file      suggest_options, profile
"""
