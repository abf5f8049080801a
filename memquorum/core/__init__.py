"""The pure core: no input or output, no clock, no randomness, no environment. All of these are arguments.

What everything is made of: `records`, `avro`, `ids`, `names`, `jsontext`, `policy`, `text`, `sealing`; and who is who:
`identity`. Then the life of a memory, stage by stage: `intake`, `orders`, `salience`, `decay`, `vote`, `consensus`,
`journal`, `commit`; and what is asked of it: `audit`, `retrieval`.

The rooms stand in floors, and nobody imports upwards (infra/decisions/0052, `tests/unit/test_floors.py`).
"""
