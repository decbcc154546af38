"""Plays Kuhn poker against a bot, a house or a client to learn how it plays, and counts what it does.

The explorer plays as many games in each seat. In each it draws whether it bets where it may, or checks; it always
calls, because a fold hides the other's card (kuhn-5.3). The counts estimate the weights of the other's sequences:

- The games in which the explorer checks all end with a showdown. Among those in which the other shows a certain card,
  the share in which it bets is the weight of its bet with that card.
- When the other folds to the explorer's bet, its card stays hidden, so nobody knows how often it folds with a certain
  card. But the deal is uniform: when the explorer holds another card, the other holds this one with probability 1/2.
  Among all these games, twice the share in which the other calls and shows it is the weight of its call.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import product
from typing import Final, NamedTuple

from croupier.arena.game import Chunk
from croupier.arena.kuhn import play_program
from croupier.arena.kuhn_servers import DEFAULT_COINS, MAX_GAME_COST
from croupier.arena.plan import Plan
from croupier.arena.players import Forfeit
from croupier.clients.contestants import Contestant
from croupier.clients.game import GameClient
from croupier.clients.luck import make_luck
from croupier.core.bots import Bot
from croupier.core.dealer import Luck
from croupier.core.rules import Seat
from croupier.rooms.kuhn import ROOM
from croupier.rooms.kuhn.player import Player
from croupier.rooms.kuhn.referee import WireGame
from croupier.rooms.kuhn.rules import (
    CARDS,
    DEALS,
    KUHN,
    P_1,
    P_2,
    BettingHistory,
    KuhnAction,
    KuhnState,
    Rank,
    View,
)


class Choice(NamedTuple):
    """What the other does with a card: it plays `history`, in which its last action puts a coin in."""

    seat: Seat
    card: Rank
    history: BettingHistory


BETS: Final[Mapping[Seat, BettingHistory]] = {P_1: ("BET",), P_2: ("CHK", "BET")}
CALLS: Final[Mapping[Seat, BettingHistory]] = {P_1: ("CHK", "BET", "CAL"), P_2: ("BET", "CAL")}
CHOICES: Final = tuple(
    Choice(seat, card, histories[seat]) for seat, histories, card in product((P_1, P_2), (BETS, CALLS), CARDS)
)
"""The twelve choices whose weights determine a plan of each seat."""


class ExploredGame(NamedTuple):
    """A game as the explorer saw it: `wire` has its own seat and card; `is_betting` is what it has drawn."""

    wire: WireGame
    is_betting: bool


class Count(NamedTuple):
    """The number of games in which a choice was seen, among those in which it could be.

    The weight of the choice is `factor` times the probability of seeing it.
    """

    seen: int
    games: int
    factor: int


class Explorer:
    """A bot that bets where it may in half of its games, checks in the others, and always calls."""

    def choose(self, view: View, legal: Sequence[KuhnAction], luck: Luck) -> KuhnAction:
        """Bet or check, or call. Raises ValueError if the house has refused that because the purse is empty."""
        paid: KuhnAction = "CAL" if "BET" in view.history else "BET"
        if paid not in legal:
            raise ValueError(
                f"found a purse without coins for {paid}; allowed: the true number of coins of a new purse"
            )
        return "CHK" if paid == "BET" and luck.below(2) else paid


def explored_game(wire: WireGame, luck: Luck) -> ExploredGame:
    """A game that the explorer has played.

    Where the other has bet first, the explorer has only called. Then what it would have done is drawn now: the draw
    depends on nothing, so the time of it makes no difference.
    """
    own = wire.history[wire.seat :: 2]
    return ExploredGame(wire, is_betting=bool(luck.below(2)) if own == ("CAL",) else "BET" in own)


def explore_bot(bot: Bot[View, KuhnAction], games: int, luck: Luck, bot_luck: Luck) -> list[ExploredGame]:
    """Play games against a bot in process. `bot_luck` is the bot's. Raises IllegalMove if the bot makes one."""
    explored, explorer = [], Explorer()
    for number in range(games):
        seat = number % 2
        state = DEALS[luck.below(len(DEALS))]
        while isinstance(state.turn, int):
            chooser, chooser_luck = (explorer, luck) if state.turn == seat else (bot, bot_luck)
            state = KUHN.play(state, chooser.choose(state.views[state.turn], state.actions, chooser_luck))
        explored.append(explored_game(wire_game(state, seat), luck))
    return explored


def explore_client(command: Contestant, games: int, seed: int, answer_seconds: float = 30.0) -> list[ExploredGame]:
    """Let a command play games as a client of a house that is the explorer; an odd number is rounded up.

    The program has `answer_seconds` for each of its messages.

    Raises ChildProcessError if the program cannot be started, does not play on, or makes any other fault.
    """
    pairs = -(-games // 2)
    plan = Plan(ROOM.name, (command.text, "explorer"), pairs, seed, chunk_pairs=pairs, answer_seconds=answer_seconds)
    chunk = Chunk(plan, (0, 1), 0, (command.make, Explorer), (command, None))
    try:
        seatings = play_program(chunk)
    except Forfeit:
        seatings = []
    if chunk.faults:
        raise ChildProcessError(chunk.faults[0].reason)
    luck = make_luck(seed, "explorer")
    return [
        explored_game(wire_game(end, 1 - seat), luck) for seat, played in enumerate(seatings) for end in played.ends
    ]


def wire_game(state: KuhnState, seat: Seat) -> WireGame:
    """What the explorer sees of a game that is over, in its seat."""
    card, other = state.cards[seat], state.cards[1 - seat]
    return WireGame(seat, card, state.history, None if "FLD" in state.history else other)


async def explore_house(
    connect: Callable[[], GameClient], games: int, luck: Luck, coins: int = DEFAULT_COINS
) -> list[ExploredGame]:
    """Play games against a house, and connect again before the purse runs low.

    `coins` is what a new purse has. Raises Violation or ConnectionError if the house breaks the protocol or cannot be
    reached, and ValueError if it gives fewer coins.
    """
    if coins < MAX_GAME_COST:
        raise ValueError(f"found {coins} coins; allowed: {MAX_GAME_COST} or more")
    explored: list[ExploredGame] = []
    explorer = Explorer()
    while len(explored) < games:
        async with connect() as client:
            while len(explored) < games and coins + sum(client.nets) >= MAX_GAME_COST:
                wire = await _play_game(client, explorer, luck, len(explored))
                explored.append(explored_game(wire, luck))
    return explored


async def _play_game(client: GameClient, explorer: Explorer, luck: Luck, number: int) -> WireGame:
    """Play one game. `number` decides the seat."""
    player, games_before = client.player, len(client.nets)
    assert isinstance(player, Player), "the client plays Kuhn poker"
    while len(client.nets) == games_before:
        message = player.decide(explorer, luck, number)
        if player.is_exhausted:
            raise ValueError("found an empty purse; allowed: the true number of coins of a new purse")
        if message is None:
            await client.receive()
        else:
            await client.send(message)
    assert player.last_game is not None, "a game has been settled"
    return player.last_game


def count_choices(explored: Iterable[ExploredGame]) -> Mapping[Choice, Count]:
    """What was seen of each of the twelve choices."""
    seen, games = dict.fromkeys(CHOICES, 0), dict.fromkeys(CHOICES, 0)
    for wire, is_betting in explored:
        seat = 1 - wire.seat
        for card in CARDS:
            choice = Choice(seat, card, CALLS[seat] if is_betting else BETS[seat])
            if wire.card != card if is_betting else wire.house_card == card:
                games[choice] += 1
                seen[choice] += wire.house_card == card and wire.history[: len(choice.history)] == choice.history
    return {choice: Count(seen[choice], games[choice], 2 if "CAL" in choice.history else 1) for choice in CHOICES}
