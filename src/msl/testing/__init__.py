"""For tests of strategies, also those of other packages.

does a strategy do what a search relies on    conformance.check_strategy, conformance.CHECKS
run a strategy on a function                  conformance.play
the functions                                 toy_problems
"""
