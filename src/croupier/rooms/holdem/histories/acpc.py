"""Reader and writer of the match state line of the Annual Computer Poker Competition (ACPC), and writer of its logs.

`MATCHSTATE:0:30:cr60c/r120:9s8h|/8c8d5c` is the view of hand 30 for the player in position 0: the betting (`c` calls or
checks, `f` folds, `r60` raises to a total of 60 in the whole hand, `/` ends a round), the hole cards by position that
the player may know, and the board. Positions are numbered from the left of the button.
"""

import re
from collections.abc import Collection, Sequence
from typing import Final

from croupier.core.rules import Seat, Turn
from croupier.rooms.holdem.cards import Card
from croupier.rooms.holdem.engine.hand import Hand
from croupier.rooms.holdem.engine.stakes import STAKES, Stakes
from croupier.rooms.holdem.engine.streets import FLOP_CARDS, STREET_CARDS, split_board
from croupier.rooms.holdem.histories.in_turn import InTurnHand
from croupier.rooms.holdem.histories.notation import format_cards, parse_partial_cards, seat_order
from croupier.rooms.holdem.histories.replay import HandReplay

LINE_PATTERN: Final = re.compile(r"MATCHSTATE:([0-9]{1,2}):([0-9]{1,18}):([cfr/0-9]*):([^:/]*)((?:/[^:/]*)*)", re.ASCII)
SEPARATORS: Final = re.compile(r"[:|\s]")
MOVE_PATTERN: Final = re.compile(r"[cf/]|r[0-9]{1,18}", re.ASCII)


def to_acpc(hand: Hand, viewer: Seat, number: int = 0) -> str:
    """Format the match state as the player in seat `viewer` sees it, without a line end.

    The line has the viewer's hole cards and those shown at the showdown; `number` is the hand number. The format has
    no departures: a player who has left folds at their next turn. Raises ValueError on a hand with antes, which the
    format does not have either.

    Example:
        >>> from croupier.rooms.holdem.cards import parse_cards
        >>> hand = Hand([1000, 1000], stakes=Stakes(5, 10))
        >>> hand.deal(parse_cards("AsKdAhKc"))
        >>> hand.bet(25)
        >>> to_acpc(hand, viewer=0, number=7)
        'MATCHSTATE:1:7:r30:|AsAh'
    """
    _check_antes(hand)
    seats = seat_order(len(hand.stacks), hand.button)
    cards = _format_cards(hand, {viewer, *hand.showdown_order})
    return f"MATCHSTATE:{seats.index(viewer)}:{number}:{_format_betting(hand)}:{cards}"


def to_acpc_log(hand: Hand, players: Sequence[str], number: int = 0) -> str:
    """Format a hand that is over as a line in the log of the competition's dealer, with all cards, without a line end.

    `players` are the names by seat; blanks and the separators `:` and `|` in them become `_`. Raises ValueError on a
    hand that is not over, or with antes.

    Example:
        >>> from croupier.rooms.holdem.cards import parse_cards
        >>> hand = Hand([1000, 1000], stakes=Stakes(5, 10))
        >>> hand.deal(parse_cards("AsKdAhKc"))
        >>> hand.bet(25)
        >>> hand.fold()
        >>> to_acpc_log(hand, ["Ann", "Bob"], number=7)
        'STATE:7:r30f:KdKc|AsAh:-10|10:Bob|Ann'
    """
    _check_antes(hand)
    if hand.turn is not Turn.OVER:
        raise ValueError("the hand is not over; the ACPC log has results only")
    seats, won = seat_order(len(hand.stacks), hand.button), hand.payoff()
    nets = "|".join(str(won[seat]) for seat in seats)
    names = "|".join(SEPARATORS.sub("_", players[seat]) for seat in seats)
    return f"STATE:{number}:{_format_betting(hand)}:{_format_cards(hand, seats)}:{nets}:{names}"


def _check_antes(hand: Hand) -> None:
    if hand.stakes.ante:
        raise ValueError(f"found an ante of {hand.stakes.ante}; allowed: 0, because the ACPC format has no antes")


def _format_cards(hand: Hand, open_seats: Collection[Seat]) -> str:
    """Format the hole cards of these seats by position, and the board."""
    seats = seat_order(len(hand.stacks), hand.button)
    holes = "|".join(format_cards(hand.holes[seat]) if seat in open_seats else "" for seat in seats)
    return holes + "".join(f"/{format_cards(cards)}" for cards in split_board(hand.board) if cards)


def _format_betting(hand: Hand) -> str:
    """Format the betting of a hand as if players who left had folded at their next turn."""
    played = InTurnHand(hand)
    paid, to_match = played.paid, played.to_match
    played.follow(hand.log)
    betting = []
    for entry in played.log:
        match entry:
            case ("deal", seat, _) if seat is None:
                betting.append("/")
            case ("bet", seat, chips):
                paid[seat] += chips
                betting.append(f"r{paid[seat]}" if paid[seat] > to_match else "c")
                to_match = max(to_match, paid[seat])
            case ("fold", _):
                betting.append("f")
            case _:
                pass
    return "".join(betting)


def from_acpc(line: str, stacks: Sequence[int], stakes: Stakes = STAKES) -> Hand:
    """Parse a match state line. `stacks` are the starting stacks by position; seat 0 is left of the button.

    Hole cards that the line does not contain are replaced by unused cards. Raises ValueError if the line is malformed
    or breaks the rules.

    Example:
        >>> hand = from_acpc("MATCHSTATE:1:7:r30f:|AsAh", [1000, 1000], Stakes(5, 10))
        >>> hand.payoff()
        (-10, 10)
    """
    match = LINE_PATTERN.fullmatch(line.rstrip("\r\n"))
    if match is None:
        raise ValueError(f"found {line[:200]!r}; allowed: MATCHSTATE:<position>:<hand>:<betting>:<cards>")
    position, _, betting, held, dealt = match.groups()
    count = len(stacks)
    holes = [parse_partial_cards(hole) for hole in held.split("|")]
    if len(holes) != count or any(len(hole) not in (0, 2) for hole in holes):
        raise ValueError(f"found the hole cards {held!r}; allowed: two cards or none for each of {count} players")
    if int(position) >= count:
        raise ValueError(f"found position {position}; allowed: 0 to {count - 1}")
    streets = [parse_partial_cards(street) for street in dealt.split("/")[1:]]
    if [len(street) for street in streets] != [*STREET_CARDS[1 : len(streets) + 1]]:
        raise ValueError(f"found the board {dealt!r}; allowed: /flop, /turn and /river")
    hand = Hand(stacks, button=count - 1, stakes=stakes)
    board: list[Card | None] = [card for street in streets for card in street]
    replay = HandReplay(hand, range(count), holes, board)
    replay.deal_holes()
    moves = MOVE_PATTERN.findall(betting)
    if "".join(moves) != betting:
        raise ValueError(f"found the betting {betting!r}; allowed: c, f, r with a number, and /")
    for move in moves:
        _play_move(replay, move)
    if len(hand.board) != len(board):
        raise ValueError(f"found {len(board)} cards on the board; allowed: {len(hand.board)}, by the betting")
    return hand


def _play_move(replay: HandReplay, move: str) -> None:
    hand = replay.hand
    player = hand.turn
    if move == "/":
        replay.deal_board(hand.cards_due if hand.street else FLOP_CARDS)
        return
    if player is Turn.CHANCE or player is Turn.OVER:
        if move == "c":
            return  # the competition also asks a player whom no opponent can answer; they can only check
        raise ValueError(f"found {move!r} while no player is to act; allowed: /, or the end of the betting")
    match move[0]:
        case "c":
            replay.call(player)
        case "f":
            replay.fold(player)
        case _:
            replay.raise_to(player, int(move[1:]) - hand.paid[player] + hand.bets[player])
