"""What a person may want that is no message."""

from enum import Enum


class TableAction(Enum):
    """Said to the table, not to the house."""

    LEAVE = "leave"
    REJOIN = "sit down again, on a new connection"
