"""Terminal interface: play in every room, and replay recorded games."""
