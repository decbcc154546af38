"""`croupier verify`: check a dealer's record."""
