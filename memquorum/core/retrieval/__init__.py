"""The read side. Read in this order:

1. `query`: what may be asked, and what comes back;
2. `explain`: why a memory is here or gone, from the rows and certificates that speak of it;
3. `telling` and `tail`: an account of one memory, and the journal as it grows, in words.
"""
