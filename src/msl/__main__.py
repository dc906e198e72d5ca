"""`python -m msl` is the command `msl`."""

from msl.cli.main import main

main()
