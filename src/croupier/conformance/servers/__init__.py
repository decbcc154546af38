"""What the cases of each house game are made from: a room, and the ground that its game is played on."""

from collections.abc import Mapping
from typing import Final

from croupier.conformance.servers.blackjack import TEST_DATA as BLACKJACK
from croupier.conformance.servers.kuhn import TEST_DATA as KUHN
from croupier.conformance.servers.sevenhalf import TEST_DATA as SEVENHALF
from croupier.conformance.servers.test_data import ServerTestData

TEST_DATA_BY_ROOM: Final[Mapping[str, ServerTestData]] = {
    ground.room.name: ground for ground in (KUHN, SEVENHALF, BLACKJACK)
}
