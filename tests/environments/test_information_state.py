"""Information states: equal texts for equal views."""

from typing import Any

import pytest
from examples.leduc import RULES as LEDUC

from croupier.core.rules import Turn
from croupier.environments import information_state_string
from croupier.rooms.blackjack.rules import BLACKJACK
from croupier.rooms.kuhn.rules import KUHN


@pytest.mark.parametrize("rules", [KUHN, LEDUC])
def test_the_text_is_equal_exactly_where_the_seat_and_the_view_are(rules: Any) -> None:
    texts: dict[str, set[Any]] = {}
    waiting = [rules.start()]
    while waiting:
        state = waiting.pop()
        for seat in (0, 1):
            texts.setdefault(information_state_string(rules, state, seat), set()).add((seat, rules.view(state, seat)))
        if rules.turn(state) is not Turn.OVER:
            moves = rules.odds(state) if rules.turn(state) is Turn.CHANCE else rules.legal(state)
            waiting.extend(rules.play(state, move) for move in moves)
    assert all(len(views) == 1 for views in texts.values())
    assert len({view for views in texts.values() for view in views}) == len(texts)


def test_a_state_against_the_bank_names_its_cards() -> None:
    state = BLACKJACK.start()
    for card in ("AH", "5D", "TC"):
        state = BLACKJACK.play(state, card)
    text = information_state_string(BLACKJACK, state, 0)
    assert text.startswith("0 <")
    assert text.endswith("> [AH 5D TC] [0 0 1] 100")
