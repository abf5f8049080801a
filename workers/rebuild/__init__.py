"""The rebuild makes the memory database again from topics and vault (DESIGN 8)."""
