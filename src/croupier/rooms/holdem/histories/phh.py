"""Reader and writer of PHH (Poker Hand History, version 0.0.2), an open TOML format.

Players are numbered from the left of the button. Chips are whole numbers. What the format cannot express (see
`pokerkit_hand`) goes into user-defined fields: `_actions`, `_starting_stacks`, `_antes` and `_blinds_or_straddles` have
the hand as it was played, and `from_phh` prefers them to the standard fields.

Other programs may award odd chips differently: PokerKit merges pots that have the same winners before it divides them.
The field `finishing_stacks` has the stacks by H7.
"""

import tomllib
from collections.abc import Collection, Sequence
from datetime import UTC, datetime
from typing import Any, Final

from croupier.core.rules import Seat
from croupier.rooms.holdem.cards import Card
from croupier.rooms.holdem.engine.hand import Hand
from croupier.rooms.holdem.engine.stakes import Stakes
from croupier.rooms.holdem.histories.notation import parse_partial_cards, seat_order
from croupier.rooms.holdem.histories.phh_actions import LEAVES_COMMENT, PhhActionFormat, action_words
from croupier.rooms.holdem.histories.pokerkit_hand import find_equivalent, full_antes, full_posts
from croupier.rooms.holdem.histories.replay import HandReplay

VARIANT: Final = "NT"
"""No-limit Texas hold'em."""

VENUE: Final = "croupier"


def to_phh(
    hand: Hand,
    *,
    players: Sequence[str] | None = None,
    table: str = "",
    number: int = 0,
    open_seats: Collection[int] | None = None,
    started_at: datetime | None = None,
) -> str:
    """Format a hand, finished or not, as a PHH file.

    `players` are the names by seat. The file contains the hole cards of the seats in `open_seats` (None: of all seats)
    and the hole cards shown at the showdown. `table`, `number` and `started_at` are written if they are given.

    Example:
        >>> from croupier.rooms.holdem.cards import parse_cards
        >>> hand = Hand([1000, 1000], stakes=Stakes(5, 10))
        >>> hand.deal(parse_cards("AsKdAhKc"))
        >>> hand.bet(25)
        >>> hand.fold()
        >>> print(to_phh(hand, players=["Ann", "Bob"]))
        variant = "NT"
        antes = [0, 0]
        blinds_or_straddles = [5, 10]
        min_bet = 10
        starting_stacks = [1000, 1000]
        actions = [
          "d dh p1 KdKc",
          "d dh p2 AsAh",
          "p2 cbr 30",
          "p1 f",
        ]
        venue = "croupier"
        seats = [2, 1]
        seat_count = 2
        players = [
          "Bob",
          "Ann",
        ]
        finishing_stacks = [990, 1010]
        winnings = [0, 20]
        <BLANKLINE>
    """
    seats = seat_order(len(hand.stacks), hand.button)
    action_format = PhhActionFormat(hand, open_seats)
    played_actions = action_format.format_played()
    actions, antes, posts, stacks = played_actions, full_antes(hand), full_posts(hand), hand.start_stacks
    equivalent = find_equivalent(hand)
    if equivalent is not None:
        actions = action_format.format_equivalent(equivalent)
        antes, posts, stacks = equivalent.antes, equivalent.posts, equivalent.start_stacks
    fields: dict[str, object] = {"variant": VARIANT}
    if any(antes):
        fields["ante_trimming_status"] = True
    fields |= {
        "antes": _forced_bets(antes, seats),
        "blinds_or_straddles": _forced_bets(posts, seats),
        "min_bet": hand.stakes.big_blind,
        "starting_stacks": [stacks[seat] for seat in seats],
        "actions": actions,
        "venue": VENUE,
    }
    if started_at is not None:
        utc = started_at.astimezone(UTC)
        fields |= {"time": utc.time().replace(microsecond=0), "time_zone": "UTC"}
        fields |= {"day": utc.day, "month": utc.month, "year": utc.year}
    if number:
        fields["hand"] = number
    fields |= {"seats": [seat + 1 for seat in seats], "seat_count": len(seats)}
    if table:
        fields["table"] = table
    if players is not None:
        fields["players"] = [players[seat] for seat in seats]
    if hand.over:
        won = [sum(award.chips for award in hand.awards if award.seat == seat) for seat in seats]
        fields |= {"finishing_stacks": [hand.stacks[seat] for seat in seats], "winnings": won}
    if antes != full_antes(hand):
        fields["_antes"] = _forced_bets(full_antes(hand), seats)
    if posts != full_posts(hand):
        fields["_blinds_or_straddles"] = _forced_bets(full_posts(hand), seats)
    if stacks != hand.start_stacks:
        fields["_starting_stacks"] = [hand.start_stacks[seat] for seat in seats]
    if [action for action in actions if " sm" not in action] != played_actions:
        fields["_actions"] = played_actions
    return "".join(f"{name} = {_to_toml(value)}\n" for name, value in fields.items())


def _forced_bets(amounts: Sequence[int], seats: Sequence[Seat]) -> list[int]:
    """Return forced bets by player, in the order of the format: reversed heads-up."""
    by_player = [amounts[seat] for seat in seats]
    return by_player[::-1] if len(seats) == 2 else by_player


def _to_toml(value: object) -> str:
    match value:
        case bool():
            return str(value).lower()
        case str():
            return f'"{_escape(value)}"'
        case list() if value and isinstance(value[0], str):
            return "".join(["[\n", *(f"  {_to_toml(one)},\n" for one in value), "]"])
        case list():
            return f"[{', '.join(map(_to_toml, value))}]"
        case _:
            return str(value)


def _escape(text: str) -> str:
    """Escape a TOML basic string. Lone surrogates, which UTF-8 cannot encode, are replaced."""
    if text.isprintable() and '"' not in text and "\\" not in text:
        return text
    whole = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return "".join(f"\\u{ord(at):04x}" if at in '"\\' or at < " " or at == "\x7f" else at for at in whole)


# Reading


def from_phh(text: str) -> Hand:
    """Read the hand of a PHH file written by `to_phh` or by another program.

    Unknown cards are replaced by unused ones such that no player wins a showdown without having shown their hand.
    Raises ValueError if the file is malformed, is not no-limit hold'em, or breaks the rules.

    Example:
        >>> hand = from_phh('''
        ... variant = "NT"
        ... antes = [0, 0]
        ... blinds_or_straddles = [5, 10]
        ... min_bet = 10
        ... starting_stacks = [1000, 1000]
        ... actions = ["d dh p1 ????", "d dh p2 AsAh", "p2 cbr 30", "p1 f"]
        ... ''')
        >>> hand.payoff()
        (-10, 10)
    """
    try:
        fields = tomllib.loads(text)
    except RecursionError:
        raise ValueError("found arrays nested too deeply; allowed: a PHH file") from None
    if fields.get("variant") != VARIANT:
        raise ValueError(f"found the variant {fields.get('variant')!r}; allowed: {VARIANT!r}, no-limit hold'em")
    stacks = _read_chips(fields, "starting_stacks")
    count = len(stacks)
    antes = _read_chips(fields, "antes", count)
    posts = _read_chips(fields, "blinds_or_straddles", count)
    if len(set(antes)) > 1:
        raise ValueError(f"found the antes {antes}; allowed: the same ante for every player")
    if count < 2 or any(posts[3:]):
        raise ValueError(f"found the blinds {posts}; allowed: a small blind, a big blind and at most one straddle")
    seats = _read_seats(fields, count)
    hand = Hand(
        [stacks[seats.index(seat)] for seat in range(count)],
        button=seats[-1],
        stakes=Stakes(posts[0], posts[1], antes[0], posts[2] if count > 2 else 0),
    )
    _ActionPlayer(count, _read_actions(fields, "actions"), _read_actions(fields, "_actions")).play(hand, seats)
    return hand


def _read_chips(fields: dict[str, Any], name: str, count: int | None = None) -> list[int]:
    """Read a list of whole numbers; our user-defined field is preferred to the standard one."""
    amounts = fields.get(f"_{name}", fields.get(name))
    if not isinstance(amounts, list) or (count is not None and len(amounts) != count):
        allowed = "a list of numbers" if count is None else f"a list of {count} numbers"
        raise ValueError(f"found {name} = {amounts!r}; allowed: {allowed}")
    for chips in amounts:
        if isinstance(chips, bool) or not isinstance(chips, int | float) or not float(chips).is_integer():
            raise ValueError(f"found {chips!r} in {name}; allowed: whole numbers of chips")
    return [int(chips) for chips in amounts]


def _read_seats(fields: dict[str, Any], count: int) -> list[int]:
    """Return the seat of each player, numbered from 0; seat n for player n if the file has no valid seats."""
    seats = fields.get("seats")
    default = [*range(count)]
    if not isinstance(seats, list) or not all(type(seat) is int for seat in seats):
        return default
    ranked = sorted(set(seats))
    numbered = [ranked.index(seat) for seat in seats]
    return numbered if numbered in (default[at:] + default[:at] for at in default) else default


def _read_actions(fields: dict[str, Any], name: str) -> list[str]:
    actions = fields.get(name, [] if name.startswith("_") else None)
    if not isinstance(actions, list) or not all(isinstance(action, str) for action in actions):
        raise ValueError(f"found {name} = {actions!r}; allowed: a list of actions")
    return actions


class _ActionPlayer:
    """The actions of a hand of `count` players.

    `played` are the actions of our user-defined field; if there are any, they are replayed instead of `actions`.
    """

    def __init__(self, count: int, actions: Sequence[str], played: Sequence[str]) -> None:
        self.count = count
        self.actions = played or actions
        self.holes: list[list[Card | None]] = [[] for _ in range(count)]
        self.board: list[Card | None] = []
        for action in actions:
            match action_words(action):
                case ["d", "dh", player, cards]:
                    self.holes[self._player_number(action, player)] += parse_partial_cards(cards)
                case [player, "sm", cards] if cards != "-" and "?" not in cards:
                    self.holes[self._player_number(action, player)] = parse_partial_cards(cards)
                case _:
                    pass
        for at, hole in enumerate(self.holes):
            if len(hole) > 2:
                raise ValueError(f"found {len(hole)} hole cards of p{at + 1}; allowed: two")
        for action in self.actions:
            match action_words(action):
                case ["d", "db", cards]:
                    self.board += parse_partial_cards(cards)
                case _:
                    pass

    def _player_number(self, action: str, name: str) -> int:
        if name not in {f"p{player + 1}" for player in range(self.count)}:
            raise ValueError(f"found the player {name!r} in {action!r}; allowed: p1 to p{self.count}")
        return int(name[1:]) - 1

    def play(self, hand: Hand, seats: Sequence[int]) -> None:
        """Play all actions. Hole cards are dealt after their last `d dh`; without any, before the first action."""
        replay = HandReplay(hand, seats, self.holes, self.board)
        all_words = [action_words(action) for action in self.actions]
        last_deal = max((at for at, words in enumerate(all_words) if words[:2] == ["d", "dh"]), default=-1)
        has_all_holes = all(len(hole) == 2 for hole in self.holes)
        for at, words in enumerate(all_words):
            try:
                if at > last_deal and words and (last_deal >= 0 or not self.actions[at].endswith(LEAVES_COMMENT)):
                    replay.deal_holes()
                self._play_action(replay, self.actions[at], words)
            except ValueError as error:
                raise ValueError(f"action {at + 1}, {self.actions[at]!r}: {error}") from None
        if has_all_holes:
            replay.deal_holes()

    def _play_action(self, replay: HandReplay, action: str, words: list[str]) -> None:
        match words:
            case [] | ["d", "dh", _, _]:
                pass
            case ["d", "db", cards]:
                replay.deal_board(len(cards) // 2)
            case [player, "f"] if action.endswith(LEAVES_COMMENT):
                replay.leave(self._player_number(action, player))
            case [player, "f"]:
                replay.fold(self._player_number(action, player))
            case [player, "cc"]:
                replay.call(self._player_number(action, player))
            case [player, "cbr", total]:
                replay.raise_to(self._player_number(action, player), int(total))
            case [player, "sm"] | [player, "sm", _]:
                self._player_number(action, player)
            case _:
                raise ValueError("found an unknown action; allowed: d dh, d db, f, cc, cbr, sm")
