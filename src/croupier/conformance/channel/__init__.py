"""Channels: bytes to messages with the bytes of each, and how bytes are delivered."""
