"""Tests of tables that are played by calls, without the MCP SDK."""
