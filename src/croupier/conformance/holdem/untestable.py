"""The hold'em clauses that no server case can test, each with the reason."""

from collections.abc import Mapping
from typing import Final

UNTESTABLE: Final[Mapping[str, str]] = {
    "holdem-2.10": "how passwords are stored shows on the server only",
    "holdem-2.12": "the operator of the server changes users",
    "holdem-3.15": "the tester does not stop the server",
    "holdem-3.16": "the tester does not restart the server",
    "holdem-3.17": "the tester cannot make the store of the server fail",
    "holdem-6.16": "no response shows the order in which hands are shown",
    "holdem-6.17": "antes and straddles are settings of the server, off unless set",
    "holdem-9.11": "the number of games of a user is a setting of the server",
    "holdem-9.13": "the operator of the server closes accounts",
    "holdem-9.14": "a page for people is not part of the interface",
    "holdem-9.15": "a server decides whether it seats people in another way",
}
"""Reasons by clause. Cases for bots test some of these clauses: those about a server that stops or cannot write."""
