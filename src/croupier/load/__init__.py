"""A load generator: players who come, play with cheap bots, and leave, and a measurement of how long a server takes."""
