"""The console, looked at by a real browser on a running line: docs/measured/console.md.

`command`: the rows. `page`: the page, with `words.md` at its end.
"""
