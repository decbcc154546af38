"""The Old Maid table: its lobby, its running games, and how they are stored."""
