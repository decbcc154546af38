"""A hand as a PHH file, the field's open format of poker hands (version 0.0.2): a page of TOML, written and read.

The players are counted from the left of the button. Chips are whole numbers. What the format cannot tell (`telling`) is
told in fields of our own beside the ones that others read: `_actions`, `_starting_stacks`, `_antes` and
`_blinds_or_straddles` say what has truly been, and are preferred where we read.

Others pay odd chips differently: PokerKit puts pots together that have the same winners before it divides them. The
field `finishing_stacks` has the stacks by H7.
"""

import tomllib
from collections.abc import Collection, Sequence
from datetime import UTC, datetime
from typing import Any, Final

from croupier.rooms.holdem.cards import Card
from croupier.rooms.holdem.engine.hand import Hand
from croupier.rooms.holdem.histories.notation import parse_partial_cards, seat_order
from croupier.rooms.holdem.histories.phh_actions import LEAVES_COMMENT, make_phh_hand, make_played_hand
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
    """A hand as a PHH file. It may be unfinished.

    `players` are the names by seat. Hole cards are told of the seats in `open` (None: of all), and of those who have
    shown them. `table`, `number` and the time when it has `begun` are told if they are given.
    """
    seats = seat_order(len(hand.stacks), hand.button)
    true = make_played_hand(hand, open_seats)
    told = make_phh_hand(true)
    fields: dict[str, object] = {"variant": VARIANT}
    if any(told.antes):
        fields["ante_trimming_status"] = True
    fields |= {
        "antes": _in_format_order(told.antes),
        "blinds_or_straddles": _in_format_order(told.posts),
        "min_bet": true.min_bet,
        "starting_stacks": told.stacks,
        "actions": told.actions,
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
    if true.final_stacks is not None:
        won = [sum(award.chips for award in hand.awards if award.seat == seat) for seat in seats]
        fields |= {"finishing_stacks": true.final_stacks, "winnings": won}
    if told.antes != [true.ante] * len(seats):
        fields["_antes"] = [true.ante] * len(seats)
    if told.posts != true.posts:
        fields["_blinds_or_straddles"] = _in_format_order(true.posts)
    if told.stacks != true.stacks:
        fields["_starting_stacks"] = true.stacks
    if [action for action in told.actions if " sm" not in action] != told.played_actions:
        fields["_actions"] = told.played_actions
    return "".join(f"{name} = {_to_toml(value)}\n" for name, value in fields.items())


def _in_format_order(forced: list[int]) -> list[int]:
    """Forced bets by player, as the format lists them: heads-up the other way round."""
    return forced[::-1] if len(forced) == 2 else forced


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
    """A text between double quotes; halves of surrogate pairs, which a file cannot have, are replaced."""
    if text.isprintable() and '"' not in text and "\\" not in text:
        return text
    whole = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return "".join(f"\\u{ord(at):04x}" if at in '"\\' or at < " " or at == "\x7f" else at for at in whole)


# Reading


def from_phh(text: str) -> Hand:
    """The hand of a PHH file, ours or that of somebody else. Raises ValueError.

    Cards that are not told are taken from those that are left, so that nobody wins who has not shown his hand.
    """
    try:
        fields = tomllib.loads(text)
    except RecursionError:
        raise ValueError("found arrays in arrays in arrays; allowed: a PHH file") from None
    if fields.get("variant") != VARIANT:
        raise ValueError(f"found the variant {fields.get('variant')!r}; allowed: {VARIANT!r}, no-limit hold'em")
    stacks = _read_chips(fields, "starting_stacks")
    count = len(stacks)
    antes = _read_chips(fields, "antes", count)
    posts = _read_chips(fields, "blinds_or_straddles", count)
    if len(set(antes)) > 1:
        raise ValueError(f"found the antes {antes}; allowed: the same for everybody")
    if count < 2 or any(posts[3:]):
        raise ValueError(f"found the blinds {posts}; allowed: a small blind, a big blind, and one straddle behind them")
    seats = _read_seats(fields, count)
    hand = Hand(
        [stacks[seats.index(seat)] for seat in range(count)],
        button=seats[-1],
        blinds=(posts[0], posts[1]),
        ante=antes[0],
        straddle=posts[2] if count > 2 else 0,
    )
    _ActionPlayer(count, _read_actions(fields, "actions"), _read_actions(fields, "_actions")).play(hand, seats)
    return hand


def _read_chips(fields: dict[str, Any], name: str, count: int | None = None) -> list[int]:
    """A list of whole numbers; the true one, where there are two."""
    found = fields.get(f"_{name}", fields.get(name))
    if not isinstance(found, list) or (count is not None and len(found) != count):
        raise ValueError(f"found {name} = {found!r}; allowed: a list of {count or 'some'} numbers")
    for chips in found:
        if isinstance(chips, bool) or not isinstance(chips, int | float) or not float(chips).is_integer():
            raise ValueError(f"found {chips!r} in {name}; allowed: whole numbers of chips")
    return [int(chips) for chips in found]


def _read_seats(fields: dict[str, Any], count: int) -> list[int]:
    """The seat of each player, counted from 0; clockwise, if the file does not tell."""
    seats = fields.get("seats")
    first = [*range(count)]
    if not isinstance(seats, list) or not all(type(seat) is int for seat in seats):
        return first
    ranked = sorted(set(seats))
    found = [ranked.index(seat) for seat in seats]
    return found if found in (first[at:] + first[:at] for at in first) else first


def _read_actions(fields: dict[str, Any], name: str) -> list[str]:
    found = fields.get(name, [] if name.startswith("_") else None)
    if not isinstance(found, list) or not all(isinstance(action, str) for action in found):
        raise ValueError(f"found {name} = {found!r}; allowed: a list of actions")
    return found


class _ActionPlayer:
    """The actions of a hand of so many players; those that were truly played are told apart, where they differ."""

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
        """Play them: the hole cards come when the last of them is told, or before anything else."""
        replay = HandReplay(hand, seats, self.holes, self.board)
        told = [action_words(action) for action in self.actions]
        dealt = max((at for at, found in enumerate(told) if found[:2] == ["d", "dh"]), default=-1)
        whole = all(len(hole) == 2 for hole in self.holes)
        for at, found in enumerate(told):
            try:
                if at > dealt and found and (dealt >= 0 or not self.actions[at].endswith(LEAVES_COMMENT)):
                    replay.deal_holes()
                self._play_action(replay, self.actions[at], found)
            except ValueError as error:
                raise ValueError(f"action {at + 1}, {self.actions[at]!r}: {error}") from None
        if whole:
            replay.deal_holes()

    def _play_action(self, replay: HandReplay, action: str, found: list[str]) -> None:
        match found:
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
                raise ValueError("found no action of no-limit hold'em; allowed: d dh, d db, f, cc, cbr, sm")


def action_words(action: str) -> list[str]:
    """The words of an action, without its comment."""
    return action.partition("#")[0].split()
