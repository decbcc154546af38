"""Maps a deviation of a hold'em server to its likely cause, as a fixed sentence that can be counted."""

import re
from typing import Final

from croupier.conformance.holdem.deviations import Deviation
from croupier.conformance.holdem.dialects import CAUSE_PREFIX, HSPE_GO_DIALECT, MISSPELT_KEYS_DIALECT, normalise_key

HSPE_GO_PATTERNS: Final = (
    (r"a GUID as a JSON string", r"^201 \{"),
    (r"status 201", r"^202 [{\[]"),
    (r"status 201", r"^409"),
    (r"status 401", r"^400"),
    (r"status 403", r"^409"),
    (r"status 403", r"^201 \{"),
    (r"status 200", r"^403"),
)
"""Patterns of (expected, actual) that a server of dialect hspe-go produces."""

CAUSE_PATTERNS: Final = (
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
    (r"status 201", r"^200", "it answers 200 where 201 is due"),
    (r"status 20\d", r"^20\d", "it answers with another status of success"),
    (r"status \d", r"^5\d\d", "it has failed inside: its log may tell more"),
    (r"^JSON", r"", "it answers with something that is no JSON"),
)  # fmt: skip
"""Patterns of (expected, actual) and the cause they indicate; the first match counts."""


def likely_cause(deviation: Deviation, *, is_hspe_go: bool = False) -> str:
    """Return the likely cause of a deviation, "" if none is known.

    `is_hspe_go`: the server answers new users as dialect hspe-go does, although it is tested by the document.
    """
    if is_hspe_go and any(
        re.search(expected_pattern, deviation.expected) and re.search(actual_pattern, deviation.actual)
        for expected_pattern, actual_pattern in HSPE_GO_PATTERNS
    ):
        return f"{CAUSE_PREFIX}{HSPE_GO_DIALECT.description}"
    for expected, actual, cause in CAUSE_PATTERNS:
        if re.search(expected, deviation.expected) and re.search(actual, deviation.actual):
            return cause
    return f"{CAUSE_PREFIX}{MISSPELT_KEYS_DIALECT.description}" if _is_key_misspelt(deviation) else ""


def _is_key_misspelt(deviation: Deviation) -> bool:
    """Whether the missing key is present in another spelling."""
    key, keys = deviation.expected.removeprefix("the key "), deviation.actual.removeprefix("the keys ")
    is_missing_key = key != deviation.expected and keys != deviation.actual
    return is_missing_key and normalise_key(key) in {normalise_key(found) for found in keys.split(", ")}
