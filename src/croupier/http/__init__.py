"""The HTTP server, and the REST service of hold'em on it."""
