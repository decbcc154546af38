"""What a program has likely meant: the ways in which messages are written otherwise."""
