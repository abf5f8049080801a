"""The store of LangGraph, by LangGraph's own tests and by an agent's loop: see `python -m tests.langgraph`."""
