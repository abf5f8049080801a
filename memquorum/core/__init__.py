"""The pure core: no input or output, no clock, no randomness, no environment. All of these are arguments.

What everything is made of: `records`, `avro`, `ids`, `names`, `jsontext`, `policy`, `text`, `sealing`, `identity`.
Then the life of a memory, stage by stage: `intake`, `salience`, `decay`, `nomination`, `ballots`, `consensus`,
`commit`, `journal`; and what is asked of it: `audit`, `retrieval`.
"""
