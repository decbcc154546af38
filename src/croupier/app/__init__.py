"""Application layer: server settings, opening rooms, running them until a signal, and health checks."""
