"""A hold'em table: its seats, its hands, what it shows, and how it is stored."""
