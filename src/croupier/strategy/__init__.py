"""Exact solvers for any game that implements the rules interface."""
