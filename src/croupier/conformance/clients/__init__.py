"""Tests of house game clients: the house is ours, and leads the client under test into states."""
