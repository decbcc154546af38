"""Clients of all five rooms: the programs' side of each protocol."""
