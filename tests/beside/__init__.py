"""The wheel, installed into environments of others and used there: see `python -m tests.beside`."""
