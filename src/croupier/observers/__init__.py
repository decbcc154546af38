"""Observers: receive the events and effects of a room and never influence it."""
