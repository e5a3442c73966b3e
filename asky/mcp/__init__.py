"""The MCP server: the use cases of `asky.app` as tools of another program. It translates, and decides nothing."""
