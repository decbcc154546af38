"""Tests of house game servers: cases, scripted clients and verdicts."""
