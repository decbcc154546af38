"""The terminal: a person's seat at a table."""
