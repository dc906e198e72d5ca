"""The verbs of the command, one file each: `msl check` is the function `check` in `check.py`.

A file here is a verb; nothing else lists it. Its `PLACE` says where `msl --help` shows it. The modules import only
light things at the top, and the rest inside the function, so that `msl --help` stays quick.
"""
