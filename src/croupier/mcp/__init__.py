"""Tables for language models: an MCP server whose tools sit down, observe, act and leave (docs/models.md)."""
