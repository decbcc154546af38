"""Old Maid between the players: connections, turns, events, and the hands that a referee observes."""
