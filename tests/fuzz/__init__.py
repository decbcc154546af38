"""Fuzzing of every parser: the targets, their corpus, and a runner with coverage guidance (atheris)."""
