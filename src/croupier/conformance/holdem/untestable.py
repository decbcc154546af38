"""The hold'em clauses that no server case can test, each with the reason."""

from collections.abc import Mapping
from typing import Final

UNTESTABLE: Final[Mapping[str, str]] = {
    "holdem-2.10": "how passwords are kept is seen on the server alone",
    "holdem-2.12": "a stranger's users are not changed while it is tested",
    "holdem-3.15": "a stranger's server is not stopped while it is tested",
    "holdem-3.16": "a stranger's server is not ended and opened again while it is tested",
    "holdem-3.17": "a stranger's store cannot be made to fail",
    "holdem-6.16": "in what order hands are shown stands in no answer",
    "holdem-6.17": "antes and straddles are settings of a server, and off unless set",
    "holdem-9.11": "how many games a user may be in is a setting of a server",
    "holdem-9.13": "a stranger's accounts are not closed while it is tested",
}
"""Reasons by clause. Cases for bots test some of these clauses: those about a server that stops or cannot write."""
