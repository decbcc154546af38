"""What the cases of each house game are made from: a room, and the ground that its game is played on."""

from collections.abc import Mapping
from typing import Final

from croupier.conformance.servers.blackjack import GROUND as BLACKJACK
from croupier.conformance.servers.kuhn import GROUND as KUHN
from croupier.conformance.servers.sevenhalf import GROUND as SEVENHALF
from croupier.conformance.servers.test_data import Ground

GROUNDS: Final[Mapping[str, Ground]] = {ground.room.name: ground for ground in (KUHN, SEVENHALF, BLACKJACK)}
