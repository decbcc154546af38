"""What the cases of each house game are made from: a room, and the ground that its game is played on."""

from collections.abc import Mapping
from typing import Final

from croupier.conform.houses.blackjack import GROUND as BLACKJACK
from croupier.conform.houses.ground import Ground
from croupier.conform.houses.kuhn import GROUND as KUHN
from croupier.conform.houses.sevenhalf import GROUND as SEVENHALF

GROUNDS: Final[Mapping[str, Ground]] = {ground.room.name: ground for ground in (KUHN, SEVENHALF, BLACKJACK)}
