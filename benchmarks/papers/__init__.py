"""Papers: the tables of the five papers, one module each, run as the papers did."""
