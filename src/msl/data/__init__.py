"""Tables: read from files, arrays and frames, and checked.

a file, array or frame as a table       read.read_table; read.read_like for a second table like it
what a table is                         table.Table, table.Schema
from columns to a table                 assemble for the first one, conform for those like it
what the user says about the data       options.DataOptions
what is wrong with a table              data_errors.DataError, data_errors.DataProblem
a file format                           formats/, one module each; read.find_format, raw_columns.TableFormat
CSV and other text                      csv and dialect, on what file_bytes opens; arrays and frames: frames
the kinds of columns, missing values    infer_types
symbols with an order                   ordered_symbols
dates and free text as numbers          derived_columns
symbols that have an order              ordered_symbols
the target, the task and the classes    target
samples of rows, and rows known again   table_rows
options for a first look at a file      suggest_options, profile (with warnings about columns)
"""
