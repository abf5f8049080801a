"""Training data of our own, and the commands that fit by it. `bench/cases` is measured on alone."""
