"""A referee of hold'em: follows a table from what is shown of it and done there, and tells which rule was broken.

It is shown what anybody may see and the hole cards of those whom it comes with, and plays every hand along by the full
rules (docs/protocols/holdem.md, 4 to 6). What it cannot know it does not judge.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

from croupier.core.errors import Violation
from croupier.core.rules import Seat, Turn
from croupier.rooms.holdem.cards import CARD_NUMBERS, Card, card_names
from croupier.rooms.holdem.engine.blinds import BLINDS
from croupier.rooms.holdem.engine.legal import Legal
from croupier.rooms.holdem.observed.differences import compare
from croupier.rooms.holdem.observed.hand import ObservedHand
from croupier.rooms.holdem.wire import ACTION_FOLD, Game, Guid

CHANCE: Final = Turn.CHANCE
OVER: Final = Turn.OVER

STARTING_STACK: Final = 10_000
"""What everybody brings (holdem-3.1)."""

SOFT_CLAUSES: Final = frozenset(
    {f"holdem-5.{number}" for number in (6, 7, 8, 9, 10, 13, 14, 15)} | {"holdem-6.2", "holdem-6.8"}
)
"""What is wrong by these clauses does not keep anybody from following the hand."""


def invalid_bet_clause(legal: Legal, chips: int, stack: int) -> str:
    """The clause by which a bet is invalid (holdem-4.8 to holdem-4.12); "" for a valid one."""
    if chips in legal:
        return ""
    if chips < 0:
        return "holdem-4.8"
    if chips > stack:
        return "holdem-4.9"
    if chips < legal.to_call:
        return "holdem-4.10"
    return "holdem-4.11" if legal.raise_range is not None else "holdem-4.12"


class Referee:
    """Follows one game from its first hand, whose players are all told: `joined`, `left`, `acted`, and what `saw` sees.

    Each tells what was wrong, the clause first. `judged` counts how often something was right or wrong by a clause.
    After a fault by which the hand cannot be followed any more it is `lost`, and judges nothing.
    """

    def __init__(self, blinds: tuple[int, int] = BLINDS, stack: int = STARTING_STACK) -> None:
        self.clause_counts: Counter[str] = Counter()
        self.observed: ObservedHand | None = None
        self.is_lost = False
        self.hand_count = 0
        self._blinds = blinds
        self._stack = stack
        self._chips: dict[Guid, int] = {}  # of everybody who sits, when the running hand began or the last one ended
        self._possible_chips: tuple[
            tuple[tuple[Guid, int], ...], ...
        ] = ()  # what they may have now that a hand is over
        self._cause_clause = "holdem-6.3"  # the clause by which things are as they are
        self._unsettled_hand: ObservedHand | None = None  # the hand that is over, until it is seen what it has brought
        self._newcomers: set[Guid] = set()  # who has come while a hand may have begun that nobody has seen yet
        self._previous_hand: ObservedHand | None = (
            None  # the hand before this one, unless somebody has come or gone since
        )

    @property
    def seated_players(self) -> frozenset[Guid]:
        """Who sits at the table, as far as is known."""
        return frozenset(self._chips)

    # What is done.

    def player_joined(self, player: Guid) -> None:
        """Somebody has sat down: he plays from the beginning of the next hand (holdem-3.5)."""
        self._chips[player] = self._stack
        self._previous_hand = None
        if self.observed is None or self._is_over():
            self._newcomers.add(player)

    def player_left(self, player: Guid) -> None:
        """Somebody has left the game: he has folded a hand that he was in (holdem-3.11)."""
        running = self.observed
        seat = None if running is None else running.seat_of(player)
        self._chips.pop(player, None)
        self._previous_hand = None
        if running is not None and seat is not None:
            running.left_players.add(player)
            if running.hand.turn is not OVER and not running.hand.folded[seat]:
                self.clause_counts["holdem-3.11"] += 1
                self._apply_action("leave", seat, 0, "holdem-3.11")

    def player_to_act(self) -> Guid:
        """Whose turn it is by the rules; "" when it is nobody's."""
        running = self.observed
        return running.players[running.hand.turn] if running and isinstance(running.hand.turn, int) else ""

    def player_acted(self, player: Guid, action: int, chips: int, status: int) -> Sequence[Violation]:
        """Somebody has asked to act, and was answered with a status: what was wrong with that."""
        running = self.observed
        done = 200 <= status < 300
        if self.is_lost or running is None:
            return ()
        seat = running.seat_of(player)
        if seat is None or running.hand.turn != seat:
            self.clause_counts["holdem-4.13"] += 1
            return self._report_violation("holdem-4.13", f"{status}", "a refusal: it is not his turn") if done else ()
        wrong = (
            "" if action == ACTION_FOLD else invalid_bet_clause(running.hand.legal, chips, running.hand.stacks[seat])
        )
        why = wrong or ("holdem-4.6" if action == ACTION_FOLD else "holdem-4.5")
        self.clause_counts.update((why, "holdem-4.1"))
        if not done:
            found = f"{status} to {'a fold' if action == ACTION_FOLD else f'a bet of {chips}'}"
            if not wrong:
                return self._report_violation(
                    "holdem-4.6" if action == ACTION_FOLD else "holdem-4.1", found, "201: it is his turn"
                )
            return self._report_violation("holdem-4.7", found, "201, and a fold: an invalid bet")
        if wrong:
            self.clause_counts["holdem-4.7"] += 1
        self._apply_action("fold" if wrong or action == ACTION_FOLD else "bet", seat, chips, why)
        return ()

    def _apply_action(self, kind: str, seat: Seat, chips: int, why: str) -> None:
        assert self.observed is not None, "an act in no hand"
        self.observed.actions.append((kind, seat, chips))
        self.observed.update()
        self._cause_clause = why

    def _report_violation(self, clause: str, found: str, allowed: str) -> Sequence[Violation]:
        self.is_lost = self.is_lost or clause not in SOFT_CLAUSES
        return (Violation(clause, found, allowed),)

    # What is seen.

    def observe(self, game: Game, viewer: Guid = "") -> Sequence[Violation]:
        """Somebody has looked at the game, as the public or as a player: what is wrong with what he saw."""
        if self.is_lost:
            return ()
        found = list(self._check_game(game, viewer))
        self.clause_counts.update(violation.clause for violation in found)
        if any(violation.fatal or violation.clause not in SOFT_CLAUSES for violation in found):
            self.is_lost = True
        return found

    def _check_game(self, game: Game, viewer: Guid) -> Iterator[Violation]:
        board = _board_numbers(game)
        if len({*board}) < len(board):
            yield Violation("holdem-6.1", f"the board {_format_cards(board)}", "every card once")
            return
        hole = [CARD_NUMBERS[name] for name in game.cards.hole or ()]
        if twice := {*hole} & {*board}:
            yield Violation(
                "holdem-6.1", f"{_format_cards(sorted(twice))} in a hand and on the board", "every card once"
            )
            return
        if self.observed is not None and (wrong := self._follow_board(board)):
            yield wrong
            return
        if self.observed is None or self._is_over():
            yield from self._check_between_hands(game)
        else:
            yield from compare(self.observed, game, self._cause_clause, self.clause_counts)
        yield from self._check_hole(game, viewer)

    def _is_over(self) -> bool:
        return self.observed is not None and (self.observed.hand.turn is OVER or self.observed.is_decided())

    def _follow_board(self, board: Sequence[Card]) -> Violation | None:
        """Take in new cards of the board."""
        running = self.observed
        assert running is not None, "cards of no hand"
        hand = running.hand
        over = self._is_over()
        known = len(running.board)
        if list(board[:known]) != running.board:
            return (
                None
                if over
                else Violation(self._board_clause(), f"the board {_format_cards(board)}", _format_cards(running.board))
            )
        new = board[known:]
        if not new or hand.turn is OVER:
            return None
        if hand.turn is not CHANCE or (len(new) > hand.cards_due and not over):
            option = not hand.street and hand.turn == hand.big_blind and not running.acted_seats & {hand.big_blind}
            clause = "holdem-6.6" if option else "holdem-6.7"
            return Violation(clause, f"the cards {_format_cards(new)} before the round is over", "none yet")
        if twice := {*new} & {*running.seen_cards}:
            return Violation("holdem-6.1", f"{_format_cards(sorted(twice))} dealt twice", "every card once")
        self.clause_counts["holdem-6.5"] += 1
        running.board += new
        running.update()
        return None

    def _board_clause(self) -> str:
        return "holdem-6.7" if self.observed is not None and self.observed.hand.turn is CHANCE else "holdem-6.5"

    def _check_hole(self, game: Game, viewer: Guid) -> Iterator[Violation]:
        """The hole cards of who looks."""
        running = self.observed
        hole = tuple(CARD_NUMBERS[name] for name in game.cards.hole or ())
        seat = None if running is None else running.seat_of(viewer)
        self.clause_counts["holdem-5.6"] += 1
        if running is None or seat is None or viewer in running.left_players:
            if hole and not (viewer and running is None):
                yield Violation("holdem-5.6", f"the hole cards {_format_cards(hole)} for who has none", "no hole cards")
            return
        if len(hole) != 2:
            yield Violation("holdem-5.6", f"the hole cards {_format_cards(hole)} of a player", "two")
            return
        before = running.holes.get(viewer)
        if before is not None and before != hole:
            yield Violation("holdem-5.6", f"the hole cards {_format_cards(hole)}", _format_cards(before))
            return
        if before is None:
            if twice := {*hole} & {*running.seen_cards}:
                yield Violation("holdem-6.1", f"{_format_cards(sorted(twice))} dealt twice", "every card once")
                return
            running.holes[viewer] = hole
            running.update()

    # Between two hands.

    def _check_between_hands(self, game: Game) -> Iterator[Violation]:
        """A hand is over, or there was none: it is shown, nothing is played, or the next one has begun."""
        self._finish_hand()
        shown = {one.player_id: one.wealth + one.bet_so_far for one in game.table}
        idle = not game.turn.player_id
        if idle and any(pot.size for pot in game.pots):
            yield Violation("holdem-5.12", "nobody's turn while there are chips in the pots", "the turn of a player")
            self.is_lost = True
            return
        yield from self._check_result(shown)
        if self.is_lost:
            return
        self._chips.update({player: chips for player, chips in shown.items() if player in self._chips})
        self._possible_chips = ()
        if idle:
            self._newcomers.difference_update(shown)
        else:
            yield from self._begin_hand(game)

    def _finish_hand(self) -> None:
        """Find out what everybody may have now that a hand is over."""
        running = self.observed
        if running is None:
            return
        self.observed, self._unsettled_hand = None, running
        self._cause_clause = self._showdown_clause(running)
        self._possible_chips = tuple(
            tuple(
                (player, end[seat]) for seat, player in enumerate(running.players) if player not in running.left_players
            )
            for end in running.possible_final_stacks()
        )

    def _showdown_clause(self, running: ObservedHand) -> str:
        """The clause that the end of a hand is about."""
        hand = running.hand
        if hand.turn is OVER and not hand.showdown_order:
            return "holdem-6.13"
        if len(running.showdown_pots()) > 1:
            return "holdem-6.12"
        return "holdem-6.15" if hand.turn is OVER and running.has_all_holes and len(hand.awards) > 1 else "holdem-6.14"

    def _check_result(self, shown: dict[Guid, int]) -> Iterator[Violation]:
        """Whether everybody has what a hand has left him.

        Where a blind may have taken all that somebody had, another hand may be over that nobody has seen.
        """
        before = self._unsettled_hand
        if before is None:
            return
        self._unsettled_hand = None
        found = {player: shown.get(player, 0) for player in before.players if player not in before.left_players}
        total = sum(before.stacks)
        gone = sum(
            before.hand.stacks[seat] for seat, player in enumerate(before.players) if player in before.left_players
        )
        self.clause_counts.update((self._cause_clause, "holdem-5.17"))
        if sum(found.values()) != total - gone:
            self.is_lost = True
            yield Violation("holdem-5.17", f"{sum(found.values())} chips after a hand", f"{total - gone}, as before")
            return
        short = any(0 < chips <= self._blinds[1] for end in self._possible_chips for _, chips in end)
        if short:
            self._previous_hand = None  # the button may have moved on twice
        if self._possible_chips and not short and not any(dict(end) == found for end in self._possible_chips):
            self.is_lost = True
            allowed = (
                f"{dict(self._possible_chips[0])}" if len(self._possible_chips) == 1 else "what the cards can bring"
            )
            yield Violation(self._cause_clause, f"{found} after a hand", allowed)
            return
        for player in [player for player, chips in found.items() if not chips]:
            self.clause_counts["holdem-3.13"] += 1
            if player in shown:
                yield Violation("holdem-3.13", f"{player} at the table without chips", "only who has some")
            self._chips.pop(player, None)
            self._previous_hand = None

    def _begin_hand(self, game: Game) -> Iterator[Violation]:
        """The first that is seen of a hand."""
        table = game.table
        seats = len(table)
        self.hand_count += 1
        self.clause_counts.update(
            ("holdem-6.3", "holdem-3.1", "holdem-3.5", "holdem-6.4" if seats == 2 else "holdem-6.6", "holdem-6.1")
        )
        blinds = [seat for seat, one in enumerate(table) if one.small_blind]
        if seats < 2 or len(blinds) != 1:
            self.is_lost = True
            yield Violation(
                "holdem-6.3" if seats > 1 else "holdem-6.1", f"{len(blinds)} small blinds of {seats}", "one"
            )
            return
        dealt = {one.player_id for one in table}
        if dealt - self._chips.keys() or self._chips.keys() - dealt - self._newcomers:
            self.is_lost = True
            clause = "holdem-3.10" if dealt - self._chips.keys() else "holdem-3.5"
            yield Violation(clause, f"{seats} who play", f"everybody who sits: {len(self._chips)}")
            return
        self._newcomers.clear()
        for one in table:
            if one.wealth + one.bet_so_far != self._chips[one.player_id]:
                self.is_lost = True
                found = f"{one.wealth + one.bet_so_far} of {one.handle or one.player_id}"
                yield Violation("holdem-3.1", found, f"{self._chips[one.player_id]}")
                return
        small = blinds[0]
        button = small if seats == 2 else (small - 1) % seats
        self.observed = ObservedHand(
            [one.player_id for one in table], [one.wealth + one.bet_so_far for one in table], button, self._blinds
        )
        self._cause_clause = "holdem-6.3"
        yield from self._check_button()
        yield from compare(self.observed, game, self._cause_clause, self.clause_counts)

    def _check_button(self) -> Iterator[Violation]:
        """Whether the button has moved on, where the same play as before."""
        running, last = self.observed, self._previous_hand
        self._previous_hand = running
        if running is None or last is None or last.players != running.players:
            return
        self.clause_counts["holdem-6.2"] += 1
        if running.button != (last.button + 1) % len(running.players):
            found = f"the button at {running.players[running.button]}"
            yield Violation("holdem-6.2", found, running.players[(last.button + 1) % len(running.players)])


def _board_numbers(game: Game) -> list[Card]:
    """The board as numbers."""
    cards = game.cards
    return [CARD_NUMBERS[name] for part in (cards.flop, cards.turn, cards.river) for name in part or ()]


def _format_cards(cards: Sequence[Card]) -> str:
    return " ".join(card_names(cards)) or "none"
