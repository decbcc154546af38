"""HTTP server, and the REST service for hold'em."""
