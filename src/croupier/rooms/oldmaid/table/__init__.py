"""The Old Maid table: its lobby, its games and their persistence."""
