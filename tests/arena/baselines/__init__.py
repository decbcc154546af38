"""Tests of the baselines."""
