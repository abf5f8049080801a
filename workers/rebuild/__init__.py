"""The rebuild makes the memory database from topics and vault (DESIGN 8).

`worker` runs it and compares; `shard` rebuilds one shard; `apart` rebuilds some of them in a process of their own.
"""
