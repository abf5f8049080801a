"""Training data of our own, and the commands that fit by it. `tests/benchmarks/cases` is measured on alone."""
