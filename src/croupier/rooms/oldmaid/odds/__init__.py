"""Loss probabilities of Old Maid by seat: exact for two to four players, sampled for more."""
