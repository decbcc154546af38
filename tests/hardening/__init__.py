"""Attacks on the servers of all rooms and of the web app: memory stays bounded, and a neighbour finishes its game."""
