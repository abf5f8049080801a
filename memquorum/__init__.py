"""memquorum: a shared long-term memory for fleets of AI agents that forgets on purpose, and only by agreement.

`core` decides, and reaches out to nothing; `ports` is what it asks of the world. `client` is for agents: with `cli`,
`commands`, which says how one is declared, `helping`, which shows its help, `completion` of shells, and `admin`,
which hands over to `infra`. `mcp` offers the client's methods as tools; `langgraph` is a store over it, `anthropic` a
directory of files, `openai_agents` a history, `llama_index` a block of a prompt, `adk` what an app's conversations
leave, and `mem0` what clients of mem0 ask. What all processes share: `encoders`, `telemetry`, `topics`, `kafka`,
`cloudevents`, `schema_files`, `wholefiles`, which writes them whole, and `terminal`, the way to a person's screen. The
processes are in `workers` and `streams`.
"""

__version__ = "0.1.0"
