"""Tests of the environments that need no library of others."""
