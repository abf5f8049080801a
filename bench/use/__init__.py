"""Proof of use: are more questions answered with this memory than with another, in as many tokens?

`answering` has the port, and the reader and the model behind it; `marking` the sets' own rules of what is correct.
`memories` has the memories that are asked, `driver` the process in which mem0 or LangGraph's store runs. `tables` has
the figures, `command` is `make bench WHAT=use`, and `page` makes docs/measured/use.md.
"""
