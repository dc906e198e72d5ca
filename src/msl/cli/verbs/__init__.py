"""One module per verb; each has a function of the same name, whose signature defines its arguments and help."""
