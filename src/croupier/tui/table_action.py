"""Actions of a person that are not messages to the house."""

from enum import Enum


class TableAction(Enum):
    """An action that ends the current connection."""

    LEAVE = "leave"
    REJOIN = "sit down again, on a new connection"
