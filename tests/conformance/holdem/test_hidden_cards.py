"""Hole cards of others are found in any key of an answer."""

import json
from typing import Any

import pytest

from croupier.conformance.holdem.hidden_cards import leaked_hand

HANDS = {"bob": ("AS", "TD")}


@pytest.mark.parametrize(
    "value",
    [
        {"table": [{"handle": "bob", "hole": ["AS", "TD"]}]},
        {"deck": ["2C", "AS", "9H", "10D"]},
        {"AS": 1, "TD": 2},
        {"note": "AS TD"},
        {"cards": {"hole": [], "flop": ["2C", "3C", "4C"], "hands": {"bob": ["TD", "AS"]}}},
        ["ASTD"],
    ],
)
def test_a_hand_is_found_in_any_key(value: Any) -> None:
    assert leaked_hand(json.dumps(value).encode(), ("KC", "KD"), HANDS) == ("bob", HANDS["bob"])


@pytest.mark.parametrize(
    ("body", "own"),
    [
        (b'{"deck": ["AS", "2C"]}', ()),
        (b'{"cards": {"hole": ["AS", "TD"]}}', ("AS", "TD")),
        (b'{"note": "AS has TD"}', ()),
        (b'[{"cards": {"hole": [], "flop": ["AS", "2C", "TD"], "turn": null}}]', ()),
        (b'[{"cards": {"hole": ["AS", "2C"]}}, {"cards": {"hole": ["TD", "2H"]}}]', ()),
        (b"AS TD", ()),
        (b"", ()),
    ],
)
def test_less_than_a_hand_is_no_proof(body: bytes, own: tuple[str, ...]) -> None:
    assert leaked_hand(body, own, HANDS) == ("", ())
