"""Terminal interface for Old Maid."""
