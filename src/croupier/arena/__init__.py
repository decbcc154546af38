"""The arena: which of several bots is better, how sure that is, and why."""
