"""Tests of `croupier.cluster`."""
