"""The strategies that ship, one file each: a generator function with the name of the file, declared in
`catalogue/strategies.msl` as `msl.search:NAME`.
"""
