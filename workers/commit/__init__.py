"""The commit process applies everything that happens to the shards and journals it (DESIGN 8, 14)."""
