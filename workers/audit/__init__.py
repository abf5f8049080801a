"""The audit reads the topics of a cluster from their beginning and holds Postgres against them.

`auditor` does it. By itself it reads: `configurations`, who voted when; `authors`, what agents signed; `contents`,
whether they are what the journal commits to; `contexts`, whether finished tasks have their digests; `worths`, whether
they follow from the texts; `queries`, whether an erasure took what its subject had asked; `accusations`, the evidence
that members have published. `keys` gives authors, worths and queries what the vault still opens.
"""
