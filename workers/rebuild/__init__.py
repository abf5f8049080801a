"""The rebuild makes the memory database again from topics and vault (DESIGN 8).

`worker` does it and compares; `shard` makes one shard again; `apart` does some of them in a process of their own.
"""
