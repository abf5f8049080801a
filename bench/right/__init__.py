"""Measures whether the memory is right: `make bench WHAT=right DATA=FOLDER JSON=FILE`.

Each module here has `ROWS`: name → function of the material. A function measures one line of the table and returns a
`Row`: its figures with unit and goal. `command` has the list of the modules, runs them, keeps what was measured in
bench/results/right and draws docs/measured/right.md. A function that needs a set that is not there raises
`Absent` (the loaders of `bench.sets` do): the row is named and skipped.
"""
