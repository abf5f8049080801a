"""Erasure: what somebody has a right to have forgotten goes at once, and the proof of it stays (DESIGN 15, SPEC D).

Reading order: `orders` (who may order what), `naming` (what an order takes),
`tombstones` (what it keeps out afterwards), `attestation` (what the members decide of it), `receipts` (what proves an
erasure to someone who has the genesis file alone).

An order is no matter of opinion. Intake lets it into the accepted stream, the commit worker destroys the keys of all
that it names and journals that, and only then do the members agree that the order was genuine and where it stands.
"""
