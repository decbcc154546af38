"""Replays of recorded games and of transcripts, step by step."""
