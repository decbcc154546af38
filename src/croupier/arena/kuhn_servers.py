"""Kuhn poker against the server of an address: the other bot plays as its client, and the server deals.

Only what both ends see counts, so the results are the nets that the client's session follows.
"""

from collections.abc import Sequence
from typing import Final

from croupier.arena.exploration import DEFAULT_COINS, MAX_GAME_COST
from croupier.arena.game import Chunk
from croupier.arena.players import Forfeit, Player, has_forfeited, make_fault
from croupier.clients.game import GameClient
from croupier.core.dealer import Luck
from croupier.core.errors import Violation
from croupier.net.addresses import parse_address
from croupier.net.event_loop import run
from croupier.rooms.kuhn import ROOM, Options
from croupier.rooms.kuhn.rules import DEFAULT_ACTIONS, KuhnAction, View

SEAT_OPTIONS: Final = (Options(seat="1"), Options(seat="2"))


class PlayerBot:
    """A player of the arena as a bot that plays for a client."""

    def __init__(self, player: Player[View, KuhnAction]) -> None:
        self._player = player

    def choose(self, view: View, legal: Sequence[KuhnAction], luck: Luck) -> KuhnAction:  # noqa: ARG002 -- the player has its own
        """The player's move. Raises Forfeit."""
        return self._player.choose(view, legal)


def play_against_server(chunk: Chunk, index: int, seating: int) -> Sequence[int]:
    """The nets of the first bot in a seating; `index` is that of the server in the pairing. Raises Forfeit."""
    bot = 1 - index
    player = chunk.player(seating, bot, DEFAULT_ACTIONS)
    seat = seating if bot == 0 else 1 - seating
    nets = run(_play_seating(chunk, index, seating, player, SEAT_OPTIONS[seat]))
    return [net if bot == 0 else -net for net in nets]


async def _play_seating(
    chunk: Chunk, index: int, seating: int, player: Player[View, KuhnAction], options: Options
) -> Sequence[int]:
    """The nets of the client. What the server does wrong is a fault of its own, and ends the connection."""
    contestant = chunk.programs[index]
    assert contestant is not None, "it is a server"
    host, port = parse_address(contestant.text)
    nets: list[int] = []
    player.finished = nets
    bot, luck, hands = PlayerBot(player), chunk.dealer(seating).luck, chunk.plan.chunk_pairs
    while len(nets) < hands:
        hands_before = len(nets)
        client = GameClient(ROOM, host, port, options=options, answer_timeout=chunk.plan.answer_seconds)
        reason = None
        try:
            async with client:
                await _play_purse(client, bot, luck, nets, hands)
        except (Violation, ConnectionError) as error:
            reason = str(error)
        if reason is None and len(nets) == hands_before:
            reason = "it gives a new connection no coins to play with"
        if reason is not None:
            chunk.faults.append(make_fault(index, chunk.first_hand(seating) + len(nets), reason))
            if has_forfeited(index, chunk.faults):
                raise Forfeit(index)
    return nets


async def _play_purse(client: GameClient, bot: PlayerBot, luck: Luck, nets: list[int], hands: int) -> None:
    """Play on one connection while the purse pays for a whole hand: a bot that cannot bet would play another game."""
    counted = 0
    while len(nets) < hands and not client.player.is_exhausted:
        message = client.player.decide(bot, luck, len(nets))
        if message is None:
            await client.receive()
        else:
            await client.send(message)
        nets += client.nets[counted:]
        if len(client.nets) > counted and DEFAULT_COINS + sum(client.nets) < MAX_GAME_COST:
            return
        counted = len(client.nets)
