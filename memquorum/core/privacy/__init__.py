"""Finds personal data and secrets in texts, by patterns alone (SPEC D, privacy).

1. `kinds`: the kinds, and the weight of each; `checks`: checksums; `formats`: data with a format of its own; `numbers`:
   telephone and other numbers, known by the words beside them; `words`: health, money, belief;
2. `finding`: the kinds and places in a text; `sensitivity`: the sensitivity that intake suggests from these;
3. `masking`: masks them for a reader; `listed`: names and things that a subject wants never kept; `nearly`: what says
   nearly what is withheld from a reader.

Every pattern is linear: bounded repetitions that cannot be read in two ways (tests/unit/core/privacy/test_time.py).
"""
