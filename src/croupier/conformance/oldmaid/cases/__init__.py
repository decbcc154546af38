"""Cases for an Old Maid table, by what they test."""
