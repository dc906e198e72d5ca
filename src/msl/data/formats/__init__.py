"""The file formats of tables, one module each: its `FORMAT` says how the format is recognised and read.

A module here is a format; nothing else lists it. Another package adds one by an entry point in the group `msl.tables`,
whose name is the suffix without its dot (`jsonl`) and whose target is a `TableFormat`.

which format a file has     msl.data.read.find_format
a file as columns           msl.data.read.read_file
what a format is            msl.data.raw_columns.TableFormat
"""
