"""Bots play with each other in this process: `croupier.simulate` and `croupier.match`."""

import secrets
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final, NamedTuple

from croupier.clients.luck import make_luck
from croupier.clients.play import BotTally
from croupier.core.bank import SIMULATED_BET, BankRules
from croupier.core.bots import Bot, find_bot
from croupier.core.dealer import FairDealer, Luck, derive_server_seed
from croupier.core.plural import format_count
from croupier.core.rules import Rules
from croupier.rooms import HOUSE_ROOMS, find_room
from croupier.rooms.holdem.cards import CARDS
from croupier.rooms.holdem.engine.hand import Hand
from croupier.rooms.holdem.engine.stakes import MAX_SEATS, STAKES
from croupier.rooms.holdem.settings import Settings
from croupier.rooms.holdem.simulation import play_hand
from croupier.rooms.sevenhalf.rules import SevenHalf
from croupier.strategy.simulation import play_game

MIN_HANDS: Final = 100
"""The fewest hands of a match: its interval assumes that means of pairs are normally distributed."""

type Game = str | Rules[Any, Any]
"""The name of a room, or rules."""


class MatchResult(NamedTuple):
    """The result of a match: what the first bot wins per hand, and the 95 % interval of that.

    `mean`, `low` and `high` are in `unit`; `hands` is the number of hands played. If the interval contains 0, the match
    has not shown which bot is better.

    Example:
        >>> result = MatchResult(0.25, 0.1, 0.4, 2000, "coins/hand")
        >>> f"{result.mean} ({result.low} to {result.high}) {result.unit}"
        '0.25 (0.1 to 0.4) coins/hand'
        >>> result.low > 0  # the first bot is better
        True
    """

    mean: float
    low: float
    high: float
    hands: int
    unit: str


def simulate(room: Game, *bots: Bot[Any, Any] | str, games: int = 1000, seed: int | None = None) -> list[BotTally]:
    """Let bots play games with each other in this process, and return the tally of each.

    Parameters:
        room: `"kuhn"` (two bots), `"sevenhalf"` or `"blackjack"` (one bot, against the bank), `"holdem"` (two to ten
            bots, whose stacks are new in every hand), or rules of your own: an object with the methods of `Rules`.
        bots: Objects with a method `choose(view, legal, luck)`, or names: `"equilibrium:1/6"`, `"bot.py:Honest"`.
        games: The number of games. After each, the bots move on by one seat.
        seed: Fixes the deals and the bots' random choices; without it they are unpredictable.

    `nets` of a tally has what the bot has won in each game, in coins or chips. Raises ValueError on an unknown room or
    bot, or a wrong number of bots; IllegalMove if a bot chooses a move that is not legal; and whatever a bot raises.

    Example:
        >>> equilibrium, habit = simulate("kuhn", "equilibrium", "book:never-bet", games=2000, seed=1)
        >>> equilibrium.mean > 0, habit.mean == -equilibrium.mean
        (True, True)
    """
    table = open_table(room, bots, new_seed(seed))
    tallies = [BotTally() for _ in bots]
    for number in range(games):
        for tally, net in zip(tallies, table.play(number, first_seat=number), strict=True):
            tally.nets.append(net)
    return tallies


def match(
    room: Game, first: Bot[Any, Any] | str, second: Bot[Any, Any] | str, *, hands: int = 10_000, seed: int | None = None
) -> MatchResult:
    """Let two bots play duplicate deals, and return what the first one wins per hand, with its 95 % interval.

    Every deal is played twice, with the seats exchanged, so that neither bot has better cards. Against a bank, both
    bots play the same shoes, and the result is the difference. The parameters and errors are those of `simulate`, and
    `hands` is the number of hands, two for each deal: at least 100. The unit is `bb/100` (big blinds in a hundred
    hands) in hold'em, and `coins/hand` in other rooms.

    Example:
        >>> result = match("kuhn", "equilibrium", "book:never-bet", hands=2000, seed=1)
        >>> result.low < 2 / 9 < result.high  # the exact value
        True
    """
    if hands < MIN_HANDS:
        raise ValueError(f"found {hands} hands; allowed: {MIN_HANDS} or more")
    seed = new_seed(seed)
    pairs = BotTally()
    if is_bank(room):
        tables = [open_table(room, [bot], seed) for bot in (first, second)]
        for deal in range(hands // 2):
            one, other = (table.play(deal)[0] for table in tables)
            pairs.nets.append(one - other)
        scale, unit = 1 / SIMULATED_BET, "bets/hand"
    else:
        table = open_table(room, [first, second], seed)
        for deal in range(hands // 2):
            pairs.nets.append(sum(table.play(deal, first_seat=seat)[0] for seat in (0, 1)))
        scale, unit = (50 / STAKES.big_blind, "bb/100") if room == "holdem" else (0.5, "coins/hand")
    mean, margin = scale * pairs.mean, scale * pairs.margin_of_error
    return MatchResult(mean, mean - margin, mean + margin, 2 * len(pairs.nets), unit)


class Table(NamedTuple):
    """A table in this process, with a bot in each seat. The seed fixes the deals and the choices of the bots.

    `lucks` has the randomness of each bot. `play_deal` plays the deal of a number with the bots and lucks by seat, and
    returns what each seat wins. At a bank there is one bot, in the client's seat.
    """

    bots: Sequence[Bot[Any, Any]]
    lucks: Sequence[Luck]
    play_deal: Callable[[int, Sequence[Bot[Any, Any]], Sequence[Luck]], Sequence[Any]]

    def play(self, deal: int, first_seat: int = 0) -> Sequence[Any]:
        """Play the deal of this number, with the first bot in a seat and the others after it; return what each wins."""
        nets = self.play_deal(deal, rotate(self.bots, -first_seat), rotate(self.lucks, -first_seat))
        return rotate(nets[: len(self.bots)], first_seat)


def open_table(room: Game, bots: Sequence[Bot[Any, Any] | str], seed: int) -> Table:
    """A table with these bots. Raises ValueError."""
    name, rules = (room, game_rules(room)) if isinstance(room, str) else ("game", room)
    least, most = (2, MAX_SEATS) if rules is None else (1, 1) if is_bank(room) else (rules.seats, rules.seats)
    if not least <= len(bots) <= most:
        allowed = f"{least}" if least == most else f"{least} to {most}"
        raise ValueError(f"found {format_count(len(bots), 'bot')}; allowed: {allowed}")
    specs = find_room(room).bots if isinstance(room, str) else {}
    players = [find_bot(specs, bot) for bot in bots]
    bot_lucks = [make_luck(seed, f"{name} bot", number + 1) for number in range(len(players))]
    if rules is None:
        start = Hand([Settings().stack] * len(players), button=0, stakes=STAKES)
        return Table(players, bot_lucks, partial(play_holdem, start, seed))
    deal_luck = partial(make_luck, seed, f"{name} deal")
    return Table(players, bot_lucks, lambda deal, bots, lucks: play_game(rules, bots, deal_luck(deal), lucks))


def play_holdem(
    start: Hand, seed: int, deal: int, bots: Sequence[Bot[Any, Any]], lucks: Sequence[Luck]
) -> Sequence[int]:
    """Play a hand of no-limit hold'em: all stacks are new in every hand, as at the `start`."""
    deck = FairDealer(derive_server_seed(seed, "holdem deal", deal)).next_deck(len(CARDS))
    return play_hand(start.copy(), bots, deck, lucks)


def game_rules(room: str) -> Rules[Any, Any] | None:
    """The rules of a room, None for hold'em. In seven and a half the bet cannot be raised. Raises ValueError."""
    if room == "holdem":
        return None
    if room not in HOUSE_ROOMS:
        raise ValueError(f"found the room {room!r}; allowed: {', '.join(HOUSE_ROOMS)}, holdem")
    return SevenHalf(SIMULATED_BET) if room == "sevenhalf" else HOUSE_ROOMS[room].rules


def is_bank(room: Game) -> bool:
    """Whether a game is played against the bank."""
    return isinstance(game_rules(room) if isinstance(room, str) else room, BankRules)


def rotate[T](items: Sequence[T], places: int) -> Sequence[T]:
    """The items, the first `places` of them moved to the end.

    >>> rotate([1, 2, 3], 1), rotate([1, 2, 3], -1)
    ([2, 3, 1], [3, 1, 2])
    """
    places %= len(items)
    return items if not places else [*items[places:], *items[:places]]


def new_seed(seed: int | None) -> int:
    """The seed, or an unpredictable one instead of None."""
    return secrets.randbits(63) if seed is None else seed
