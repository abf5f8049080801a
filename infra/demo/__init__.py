"""The demo: a scenario or any real log goes through the whole line, and the report shows what became of it."""
