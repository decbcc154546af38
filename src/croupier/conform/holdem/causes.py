"""What has likely led a server of hold'em astray, in a sentence that is the same wherever the reason is the same."""

import re
from typing import Final

from croupier.conform.holdem.departures import Departure

CAUSES: Final = (
    (r"an integer as", r"^['\"]", "it writes numbers as text"),
    (r"an integer as", r"\.\d", "it writes numbers with a decimal point"),
    (r"true or false as", r"", "it writes a truth as something else than true or false"),
    (r"small_blind", r"small blind", "it has copied the slip of the document's example"),
    (r"a GUID as a JSON string", r"\{", "it answers with an object, as dialect hspe-go does"),
    (r"a GUID as a JSON string", r"", "it writes the GUID without quotes: that is no JSON"),
    (r"a card as", r"10", "it writes the ten as 10"),
    (r"a card as", r"[cdhs]'|^'[tjqka]", "it writes cards in small letters"),
    (r"status 401", r"^400", "it takes missing credentials for a malformed request, as dialect hspe-go does"),
    (r"status 403", r"^409", "it answers 409 to an act out of turn, as dialect hspe-go does"),
    (r"status 20\d", r"^20\d", "it answers with another status of success"),
    (r"status \d", r"^5\d\d", "it has failed inside: its log may tell more"),
    (r"^JSON", r"", "it answers with something that is no JSON"),
)  # fmt: skip
"""What was expected, what was found, and what that comes from."""


def cause(departure: Departure) -> str:
    """The likely cause of a departure, empty where nobody knows."""
    for expected, actual, told in CAUSES:
        if re.search(expected, departure.expected) and re.search(actual, departure.actual):
            return told
    return ""
