"""What changed between two spaces: `compare.diff_spaces(old, new)` and `compare.compare_spaces(old, new)`."""
