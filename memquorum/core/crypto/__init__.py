"""Keys at work.

`sealing`: content and vectors under a key per memory; `signatures`: what an agent signs when it publishes;
`stamps`: how the fleet's own records are told from a stranger's.
"""
