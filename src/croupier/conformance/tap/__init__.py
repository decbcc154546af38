"""Network tap: a relay between clients and a house that records and judges their conversations."""
