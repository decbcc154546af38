"""A hand as a line of the Annual Computer Poker Competition, which its dealer sends to a player who is at the table.

`MATCHSTATE:0:30:cr60c/r120:9s8h|/8c8d5c` is what the player in position 0 sees of hand 30: the betting (c calls or
checks, f folds, r raises to so much in the whole hand, / ends a round), the hole cards by position as far as he may
know them, and the board. Positions are counted from the left of the button.
"""

import re
from collections.abc import Sequence
from typing import Final

from croupier.core.rules import Seat, Turn
from croupier.rooms.holdem.cards import Card
from croupier.rooms.holdem.engine.blinds import BLINDS
from croupier.rooms.holdem.engine.hand import Hand
from croupier.rooms.holdem.histories.notation import format_cards, parse_partial_cards, seat_order
from croupier.rooms.holdem.histories.replay import HandReplay

LINE_PATTERN: Final = re.compile(r"MATCHSTATE:([0-9]{1,2}):([0-9]{1,18}):([cfr/0-9]*):([^:/]*)((?:/[^:/]*)*)", re.ASCII)
MOVE_PATTERN: Final = re.compile(r"[cf/]|r[0-9]{1,18}", re.ASCII)
FLOP_CARDS: Final = 3
COMPLETE_BOARD_SIZES: Final = (0, 3, 4)
"""How many cards are on the board when the next betting round is due."""


def to_acpc(hand: Hand, viewer: Seat, number: int = 0) -> str:
    """What the player in a seat is sent, without the end of the line: his cards, and those that have been shown.

    The format knows no antes: ValueError. It knows nobody who leaves either: who has left folds when he would be asked.
    """
    if hand.ante:
        raise ValueError(f"found an ante of {hand.ante}; allowed: none, for the ACPC format has none")
    seats = seat_order(len(hand.stacks), hand.button)
    holes = "|".join(
        format_cards(hand.holes[seat]) if seat == viewer or seat in hand.showdown_order else "" for seat in seats
    )
    streets = (hand.board[:3], hand.board[3:4], hand.board[4:])
    board = "".join(f"/{format_cards(cards)}" for cards in streets if cards)
    return f"MATCHSTATE:{seats.index(viewer)}:{number}:{_format_betting(hand)}:{holes}{board}"


def _format_betting(hand: Hand) -> str:
    """The betting of a hand, told as one in which those who leave fold when it is their turn."""
    told = hand.replay(())
    gone: set[Seat] = set()
    betting = []

    def fold_the_gone() -> None:
        while told.turn in gone:
            betting.append("f")
            told.fold()

    def wait_for(seat: Seat | None) -> bool:
        """Whether it comes to this seat: who is asked before him, though he has nothing to say, calls."""
        while isinstance(told.turn, int) and told.turn != seat:
            betting.append("c")
            told.bet(told.legal.call)
            fold_the_gone()
        return told.turn == seat

    for entry in hand.log:
        match entry:
            case ("deal", seat, cards):
                wait_for(None)
                if told.cards_due:
                    betting += "/" if seat is None and told.street and len(told.board) in COMPLETE_BOARD_SIZES else ""
                    told.deal(cards)
            case ("bet", seat, chips):
                if wait_for(seat):
                    raising = chips > told.to_match - told.bets[seat]
                    betting.append(f"r{told.paid[seat] + chips}" if raising else "c")
                    told.bet(chips)
            case (_, seat):
                gone.add(seat)
        fold_the_gone()
    return "".join(betting)


def from_acpc(line: str, stacks: Sequence[int], blinds: tuple[int, int] = BLINDS, *, straddle: int = 0) -> Hand:
    """The hand of such a line; `stacks` are those at its beginning, by position. Seat 0 is left of the button.

    Hole cards that the line does not tell are any that are left. Raises ValueError.
    """
    found = LINE_PATTERN.fullmatch(line.rstrip("\r\n"))
    if found is None:
        raise ValueError(f"found {line[:200]!r}; allowed: MATCHSTATE:<position>:<hand>:<betting>:<cards>")
    position, _, betting, held, dealt = found.groups()
    count = len(stacks)
    holes = [parse_partial_cards(hole) for hole in held.split("|")]
    if len(holes) != count or any(len(hole) not in (0, 2) for hole in holes):
        raise ValueError(f"found the hole cards {held!r}; allowed: two cards or none for each of {count} players")
    if int(position) >= count:
        raise ValueError(f"found position {position}; allowed: 0 to {count - 1}")
    streets = [parse_partial_cards(street) for street in dealt.split("/")[1:]]
    if [len(street) for street in streets] != [3, 1, 1][: len(streets)]:
        raise ValueError(f"found the board {dealt!r}; allowed: /flop, /turn and /river")
    hand = Hand(stacks, button=count - 1, blinds=blinds, straddle=straddle)
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
            return  # the competition asks also who is alone with chips, and he can but check
        raise ValueError(f"found {move!r} while nobody is asked; allowed: /, or nothing more")
    match move[0]:
        case "c":
            replay.call(player)
        case "f":
            replay.fold(player)
        case _:
            replay.raise_to(player, int(move[1:]) - hand.paid[player] + hand.bets[player])
