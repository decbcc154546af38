"""Follows proxied conversations of hold'em (HTTP) and Old Maid, and judges both ends."""
