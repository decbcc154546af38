"""A hold'em table as a client or a referee sees it from outside."""
