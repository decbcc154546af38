"""Bots for Old Maid, alone and in a player."""

from collections import Counter

import pytest

from croupier.core.bots import bot_factory
from croupier.core.dealer import FairDealer, derive_server_seed
from croupier.rooms.oldmaid.bots import BOT_SPECS
from croupier.rooms.oldmaid.rules import View

VIEW = View((0, 5), (), (), 4)


def luck(number: int = 1):
    return FairDealer(derive_server_seed(number, "oldmaid", 1)).luck


@pytest.mark.parametrize("name", BOT_SPECS)
def test_bots_pick_a_legal_position(name: str) -> None:
    bot, drawn = bot_factory(BOT_SPECS, name)(), luck()
    for cards in range(1, 54):
        assert bot.choose(VIEW, range(cards), drawn) in range(cards)


def test_random_picks_each_card_as_often_as_any_other() -> None:
    bot, drawn = bot_factory(BOT_SPECS, "random")(), luck()
    found = Counter(bot.choose(VIEW, range(4), drawn) for _ in range(4000))
    assert all(abs(found[position] - 1000) < 5 * 27.4 for position in range(4)), found  # five standard deviations


def test_first_and_last_pick_at_the_ends() -> None:
    assert bot_factory(BOT_SPECS, "first")().choose(VIEW, range(4), luck()) == 0
    assert bot_factory(BOT_SPECS, "last")().choose(VIEW, range(4), luck()) == 3


def test_unknown_bot_error_lists_the_known_bots() -> None:
    with pytest.raises(ValueError, match="found the bot 'best'; allowed: random, first, last"):
        bot_factory(BOT_SPECS, "best")
