"""One file = one MCP tool."""
