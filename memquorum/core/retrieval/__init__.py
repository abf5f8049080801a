"""The read side. Read in this order:

1. `query` and `requests`: what may be asked, and what comes back;
2. `fusion`, `ranking`, `packing`: what answers a query best, and what of it fits a budget; `recall`: what surrounds it;
3. `buffer`, `working`: what an agent said last, and what goes into a prompt; `context`: how that is asked for;
4. `explain`: why a memory is here or gone, from the rows and certificates that speak of it;
5. `telling` and `tail`: an account of one memory, and the journal as it grows, in words.
"""
