"""What the web app knows of the rooms of its server."""

from typing import Any

import pytest

from croupier.rooms import HOUSE_ROOMS
from croupier.web.rooms import HouseEntry

NO_ENDPOINT: Any = None


@pytest.mark.parametrize(("name", "purse"), [("kuhn", 10), ("blackjack", 1000), ("sevenhalf", None)])
def test_the_purse_is_what_the_house_gives(name: str, purse: int | None) -> None:
    """Seven and a half has no purse (sevenhalf-7.6), and the coins of an account are known to the house alone."""
    room = HOUSE_ROOMS[name]
    assert HouseEntry(room, room.settings(), NO_ENDPOINT).purse == purse
    assert HouseEntry(room, room.settings(), NO_ENDPOINT, has_accounts=True).purse is None
