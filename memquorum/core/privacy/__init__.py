"""What a text holds of persons and secrets, found by patterns alone (SPEC D, privacy).

1. `kinds`: what there is, and how much each kind weighs; `checks`: checksums; `formats`: what has a form of its own;
   `numbers`: telephone and other numbers that are known by what stands beside them; `words`: health, money, belief;
2. `finding`: what is found in a text, where; `sensitivity`: what that suggests at the door; `masking`: how it is
   kept back from a reader.

Every pattern is linear: bounded repetitions that cannot be read in two ways (tests/unit/core/privacy/test_time.py).
"""
