"""JSON values with their spellings, and how bytes are delivered."""
