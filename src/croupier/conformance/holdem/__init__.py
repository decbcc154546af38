"""Tests of hold'em servers and bots."""
