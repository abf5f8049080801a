"""The memory as an MCP server: the client's methods as tools, for agents that speak the Model Context Protocol.

`memquorum mcp` serves one namespace over stdin and stdout, and the retrieval service serves each at `/mcp/{namespace}`
behind its API keys. Both are made of the same table.

Inside: `tools` has the table, a tool a line; `taking` makes what a tool takes and gives of the description of the API;
`calls` does what is more than one call of the client's; `server` speaks the protocol; `serving` does so over stdin and
stdout, and `command` declares `memquorum mcp`. `server` and `serving` alone need the extra `mcp`.
"""
