"""Terminal interface for hold'em."""
