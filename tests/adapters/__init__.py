"""Anthropic's memory tool and the sessions of OpenAI's agents: see `python -m tests.adapters`."""
