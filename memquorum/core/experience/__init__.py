"""What has shown that it helps (SPEC E, SEDM 3.2 to 3.4). Read in this order:

1. `context`: a finished task as a record from which anybody can try again, the self-contained execution context.

All of it is pure, in integers where two machines have to agree, and the same on every machine.
"""
