"""What every table shares: whose turn it is, what was said, how cards are dealt; no game and no socket."""
