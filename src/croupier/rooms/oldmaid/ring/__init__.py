"""The ring of Old Maid players: their connections, turns and observed hands."""
