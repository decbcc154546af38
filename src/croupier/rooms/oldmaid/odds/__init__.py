"""Who loses at Old Maid, and how often: exact for few players, sampled for many."""
