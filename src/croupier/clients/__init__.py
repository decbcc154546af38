"""Clients for all five rooms: the client side of each protocol."""
