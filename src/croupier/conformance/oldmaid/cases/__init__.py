"""Cases for Old Maid tables and players, by what they test."""
