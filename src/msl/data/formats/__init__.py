"""The file formats of tables, one module each: its `FORMAT` says how the format is recognised and read.

A module here is a format; nothing else lists it. Another package adds one by an entry point in the group `msl.tables`,
whose name is the suffix without its dot (`jsonl`) and whose target is a `TableFormat`.

which format a file has     msl.data.registry.find_format
a file as columns           msl.data.registry.read_file
what a format is            msl.data.table_format.TableFormat
"""
