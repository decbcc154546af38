"""Runs the command line as `python -m croupier`."""

from croupier.cli import main

main()
