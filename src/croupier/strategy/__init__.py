"""Exact solvers: they know the questions that rules answer, and no game."""
