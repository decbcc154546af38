"""What a person may want that is no message."""

from enum import Enum


class Wish(Enum):
    """Said to the table, not to the house."""

    LEAVE = "leave"
    AGAIN = "sit down again, on a new connection"
