"""Sockets: endpoints, connections, limits and the PROXY protocol. No other package opens a socket."""
