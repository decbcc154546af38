"""Maps a deviation of a hold'em server to its likely cause."""

import re
from typing import Final

from croupier.conformance.diagnosis.cause import Cause, dialect_cause
from croupier.conformance.holdem.deviations import Deviation
from croupier.conformance.holdem.dialects import (
    BARE_GUID_DIALECT,
    DECIMAL_NUMBERS_DIALECT,
    HSPE_GO_DIALECT,
    MISSPELT_KEYS_DIALECT,
    SMALL_LETTERS_DIALECT,
    STATUS_200_DIALECT,
    TEN_DIALECT,
    TEXT_NUMBERS_DIALECT,
    TRUTHS_DIALECT,
    normalise_key,
)

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
    (r"an integer as", r"^['\"]", dialect_cause([TEXT_NUMBERS_DIALECT])),
    (r"an integer as", r"\.\d", dialect_cause([DECIMAL_NUMBERS_DIALECT])),
    (r"true or false as", r"", dialect_cause([TRUTHS_DIALECT])),
    (r"small_blind", r"small blind", Cause("it copies the slip of the document's example")),
    (r"a GUID as a JSON string", r"\{", Cause("it answers with an object, as dialect hspe-go does")),
    (r"a GUID as a JSON string", r"", dialect_cause([BARE_GUID_DIALECT])),
    (r"a card as", r"10", dialect_cause([TEN_DIALECT])),
    (r"a card as", r"[cdhs]'|^'[tjqka]", dialect_cause([SMALL_LETTERS_DIALECT])),
    (r"status 401", r"^400", Cause("it treats missing credentials as a malformed request, as dialect hspe-go does")),
    (r"status 403", r"^409", Cause("it answers 409 to an act out of turn, as dialect hspe-go does")),
    (r"status 201", r"^200", dialect_cause([STATUS_200_DIALECT])),
    (r"status 20\d", r"^20\d", Cause("it answers with another status of success")),
    (r"status \d", r"^5\d\d", Cause("it has an internal error: see its log")),
    (r"^JSON", r"", Cause("it answers with something that is not JSON")),
)  # fmt: skip
"""Patterns of (expected, actual) and the cause they indicate; the first match counts."""


def likely_cause(deviation: Deviation, *, is_hspe_go: bool = False) -> Cause | None:
    """Return the likely cause of a deviation, None if none is known.

    `is_hspe_go`: the server answers new users as dialect hspe-go does, although it is tested by the document.
    """
    if is_hspe_go and any(
        re.search(expected_pattern, deviation.expected) and re.search(actual_pattern, deviation.actual)
        for expected_pattern, actual_pattern in HSPE_GO_PATTERNS
    ):
        return dialect_cause([HSPE_GO_DIALECT])
    for expected, actual, cause in CAUSE_PATTERNS:
        if re.search(expected, deviation.expected) and re.search(actual, deviation.actual):
            return cause
    return dialect_cause([MISSPELT_KEYS_DIALECT]) if _is_key_misspelt(deviation) else None


def _is_key_misspelt(deviation: Deviation) -> bool:
    """Whether the missing key is present in another spelling."""
    key, keys = deviation.expected.removeprefix("the key "), deviation.actual.removeprefix("the keys ")
    is_missing_key = key != deviation.expected and keys != deviation.actual
    return is_missing_key and normalise_key(key) in {normalise_key(found) for found in keys.split(", ")}
