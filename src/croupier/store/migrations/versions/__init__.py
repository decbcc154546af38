"""Every step of the schema, in a module named after its revision."""
