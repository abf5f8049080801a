"""Adapters of the storage ports, and the SQL they run."""
