"""The memory as an MCP server: the client's methods as tools, for agents that speak the Model Context Protocol.

`memquorum mcp` serves one namespace over stdin and stdout, and the retrieval service serves each at `/mcp/{namespace}`
behind its API keys. Both use the same table.

Inside: `tools` has the table of tools; `taking` derives their schemas from the description of the API; `calls`
implements tools that need several calls of the client; `server` speaks the protocol; `serving` does so over stdin and
stdout, and `command` declares `memquorum mcp`. Only `server` and `serving` need the extra `mcp`.
"""
