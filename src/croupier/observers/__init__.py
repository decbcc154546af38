"""Taps: what listens to the facts of a table and never takes part in it."""
