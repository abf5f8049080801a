"""memquorum: a shared long-term memory for fleets of AI agents that forgets on purpose, and only by agreement."""

__version__ = "0.1.0"
