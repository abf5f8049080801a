"""Which languages the encoders know: docs/languages.md.

`parallel`: the same facts and questions in 20 languages. `finding`: what each encoder finds of them and of the reading
cases. `costing`: what a sentence costs. `command`: the rows. `page`: the page.
"""
