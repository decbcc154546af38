"""Assembly: settings, opening rooms, serving them until a signal, and health checks."""
