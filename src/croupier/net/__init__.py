"""Networking: endpoints, connections, limits and the PROXY protocol."""
