"""Listening in: a relay between a client and a house, and what is written down of what passes."""
