"""The languages of the encoders: docs/measured/languages.md.

`parallel`: the same facts and questions in 20 languages. `finding`: each encoder's hits on them and on the reading
cases. `costing`: the cost of a sentence. `command`: the rows. `page`: the page.
"""
