"""A referee that follows a hold'em table from its displayed games and its requests, and reports broken rules.

It sees the public view of the table and the hole cards of its own players, and replays each hand by the full rules
(docs/protocols/holdem.md, 4 to 6). It reports nothing that it cannot know for certain.
"""

from collections import Counter, defaultdict, deque
from collections.abc import Iterator, Sequence
from typing import Final

from msgspec import Struct

from croupier.core.errors import Violation
from croupier.core.referee import HOUSE, Observation, Sent, Verdict
from croupier.core.rules import Seat, Turn
from croupier.rooms.holdem.cards import CARD_NUMBERS, Card, card_names
from croupier.rooms.holdem.engine.legal import Legal
from croupier.rooms.holdem.engine.stakes import STAKES, Stakes
from croupier.rooms.holdem.observed.differences import compare
from croupier.rooms.holdem.observed.hand import ObservedHand
from croupier.rooms.holdem.wire import ACTION_FOLD, Act, Game, Guid, HoldemRequest, Join, Leave

CHANCE: Final = Turn.CHANCE
OVER: Final = Turn.OVER

STARTING_STACK: Final = 10_000
"""The chips with which a player sits down (holdem-3.1)."""

SOFT_CLAUSES: Final = frozenset(
    {f"holdem-5.{number}" for number in (6, 7, 8, 9, 10, 13, 14, 15)} | {"holdem-6.2", "holdem-6.8"}
)
"""After violations of these clauses, the referee can still follow the hand."""


def invalid_bet_clause(legal: Legal, chips: int, stack: int) -> str | None:
    """Return the clause that makes a bet invalid (holdem-4.8 to holdem-4.12); None if the bet is valid."""
    if chips in legal:
        return None
    if chips < 0:
        return "holdem-4.8"
    if chips > stack:
        return "holdem-4.9"
    if chips < legal.to_call:
        return "holdem-4.10"
    return "holdem-4.11" if legal.raise_range is not None else "holdem-4.12"


PUBLIC: Final = ""
"""The viewer of a game that is displayed to the public."""


class Answered(Struct, frozen=True, gc=False):
    """The server has answered a request with this HTTP status."""

    status: int

    @property
    def is_done(self) -> bool:
        """Whether the request was carried out."""
        return 200 <= self.status < 300


type TableMessage = HoldemRequest | Answered | Game


def exchange(player: Guid, request: HoldemRequest, status: int) -> tuple[Sent[TableMessage], Sent[TableMessage]]:
    """Return a request of a player and its answer, as two observations."""
    return Sent(player, HOUSE, request), Sent(HOUSE, player, Answered(status))


class Referee:
    """Follows one game from its first hand. See `croupier.core.referee.Referee`.

    The players are the parties, by their GUID; the party PUBLIC receives the games displayed to the public. Each
    request is answered by the next `Answered` to its player. `clause_counts` counts how often each clause was checked
    or violated. After a violation that makes it impossible to follow the hand, `is_lost` is true and nothing more is
    reported. `game` is the hand in progress; a finished hand stays until its result has been displayed. `hand_count` is
    the number of hands that have begun.
    """

    deadline: Final = None
    """The server does not announce when it begins a hand, so its silence proves nothing."""

    def __init__(self, stakes: Stakes = STAKES, stack: int = STARTING_STACK) -> None:
        self.clause_counts: Counter[str] = Counter()
        self.game: ObservedHand | None = None
        self.last_game: ObservedHand | None = None
        self.finished_count = 0
        self.is_lost = False
        self.hand_count = 0
        self._pending_requests: defaultdict[Guid, deque[HoldemRequest]] = defaultdict(deque)
        self._stakes = stakes
        self._stack = stack
        # The chips of the seated players when the running hand began or the last one ended.
        self._chips: dict[Guid, int] = {}
        # The chips they may have after the hand that has just ended.
        self._possible_chips: tuple[tuple[tuple[Guid, int], ...], ...] = ()
        self._cause_clause = "holdem-6.3"  # the clause of the latest change
        self._unsettled_hand: ObservedHand | None = None  # the finished hand, until its result is displayed
        self._newcomers: set[Guid] = set()  # players who joined while an unobserved hand may have begun
        self._previous_hand: ObservedHand | None = None  # the last hand, unless the players have changed since

    @property
    def seated_players(self) -> frozenset[Guid]:
        """The players known to be seated."""
        return frozenset(self._chips)

    def player_to_act(self) -> Guid | None:
        """Return the player to act by the rules; None if no player is to act."""
        observed = self.game
        return observed.players[observed.hand.turn] if observed and isinstance(observed.hand.turn, int) else None

    @property
    def legal(self) -> Legal | tuple[()]:
        """The bets that the player to act may make, and how; empty if no player is to act."""
        return () if self.game is None or self.player_to_act() is None else self.game.hand.legal

    def on(self, event: Observation[TableMessage], now: float = 0.0) -> Sequence[Verdict]:  # noqa: ARG002 -- it has no deadline
        """Check an event, and return the violations of the server that it shows."""
        violations: Sequence[Violation] = ()
        match event:
            case Sent(_, str(viewer), Game() as game):
                violations = self._on_view(game, viewer)
            case Sent(_, str(player), Answered() as answer) if pending := self._pending_requests[player]:
                violations = self._on_answer(player, pending.popleft(), answer)
            case Sent(str(player), _, (Join() | Leave() | Act()) as request):
                self._pending_requests[player].append(request)
            case _:
                pass
        return [Verdict(HOUSE, violation) for violation in violations]

    # Actions

    def _on_answer(self, player: Guid, request: HoldemRequest, answer: Answered) -> Sequence[Violation]:
        match request:
            case Act(action=action, amount=chips):
                return self._on_act(player, action, chips, answer)
            case Join() if answer.is_done:
                self._on_join(player)
            case Leave() if answer.is_done:
                self._on_leave(player)
            case _:
                pass
        return ()

    def _on_join(self, player: Guid) -> None:
        """Note a player who has sat down: they play from the next hand on (holdem-3.5)."""
        self._chips[player] = self._stack
        self._previous_hand = None
        if self.game is None or self._is_over():
            self._newcomers.add(player)

    def _on_leave(self, player: Guid) -> None:
        """Note a player who has left the game: their hand is folded (holdem-3.11)."""
        observed = self.game
        seat = None if observed is None else observed.seat_of(player)
        self._chips.pop(player, None)
        self._previous_hand = None
        if observed is not None and seat is not None:
            observed.left_players.add(player)
            if observed.hand.turn is not OVER and not observed.hand.folded[seat]:
                self.clause_counts["holdem-3.11"] += 1
                self._apply_action("leave", seat, 0, "holdem-3.11")

    def _on_act(self, player: Guid, action: int, chips: int, answer: Answered) -> Sequence[Violation]:
        """Note a player's act and its answer. Return the violations in the answer."""
        observed = self.game
        status, done = answer.status, answer.is_done
        if self.is_lost or observed is None:
            return ()
        seat = observed.seat_of(player)
        if seat is None or observed.hand.turn != seat:
            self.clause_counts["holdem-4.13"] += 1
            return (
                self._report_violation("holdem-4.13", f"{status}", "a refusal: it is not this player's turn")
                if done
                else ()
            )
        invalid_clause = (
            None
            if action == ACTION_FOLD
            else invalid_bet_clause(observed.hand.legal, chips, observed.hand.stacks[seat])
        )
        cause_clause = invalid_clause or ("holdem-4.6" if action == ACTION_FOLD else "holdem-4.5")
        self.clause_counts.update((cause_clause, "holdem-4.1"))
        if not done:
            found = f"{status} to {'a fold' if action == ACTION_FOLD else f'a bet of {chips}'}"
            if not invalid_clause:
                return self._report_violation(
                    "holdem-4.6" if action == ACTION_FOLD else "holdem-4.1", found, "201: it is this player's turn"
                )
            return self._report_violation("holdem-4.7", found, "201: an invalid bet folds the hand")
        if invalid_clause:
            self.clause_counts["holdem-4.7"] += 1
        self._apply_action("fold" if invalid_clause or action == ACTION_FOLD else "bet", seat, chips, cause_clause)
        return ()

    def _apply_action(self, kind: str, seat: Seat, chips: int, cause_clause: str) -> None:
        assert self.game is not None, "an action without a hand"
        self.game.actions.append((kind, seat, chips))
        self.game.update()
        self._cause_clause = cause_clause

    def _report_violation(self, clause: str, found: str, allowed: str) -> Sequence[Violation]:
        self.is_lost = self.is_lost or clause not in SOFT_CLAUSES
        return (Violation(clause, found, allowed),)

    # Observations

    def _on_view(self, game: Game, viewer: Guid) -> Sequence[Violation]:
        """Check a game as displayed to a player or to the public. Return the violations in it."""
        if self.is_lost:
            return ()
        violations = list(self._check_game(game, viewer))
        self.clause_counts.update(violation.clause for violation in violations)
        if any(violation.fatal or violation.clause not in SOFT_CLAUSES for violation in violations):
            self.is_lost = True
        return violations

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
        if self.game is not None and (violation := self._follow_board(board)):
            yield violation
            return
        if self.game is None or self._is_over():
            yield from self._check_between_hands(game)
        else:
            yield from compare(self.game, game, self._cause_clause, self.clause_counts)
        yield from self._check_hole(game, viewer)

    def _is_over(self) -> bool:
        return self.game is not None and (self.game.hand.turn is OVER or self.game.is_decided())

    def _follow_board(self, board: Sequence[Card]) -> Violation | None:
        """Add new board cards to the observed hand. Return the violation if the board is not allowed."""
        observed = self.game
        assert observed is not None, "a board without a hand"
        hand = observed.hand
        over = self._is_over()
        known = len(observed.board)
        if list(board[:known]) != observed.board:
            return (
                None
                if over
                else Violation(self._board_clause(), f"the board {_format_cards(board)}", _format_cards(observed.board))
            )
        new = board[known:]
        if not new or hand.turn is OVER:
            return None
        if hand.turn is not CHANCE or (len(new) > hand.cards_due and not over):
            option = not hand.street and hand.turn == hand.big_blind and not observed.acted_seats & {hand.big_blind}
            clause = "holdem-6.6" if option else "holdem-6.7"
            return Violation(clause, f"the cards {_format_cards(new)} before the round is over", "none yet")
        if twice := {*new} & {*observed.seen_cards}:
            return Violation("holdem-6.1", f"{_format_cards(sorted(twice))} dealt twice", "every card once")
        self.clause_counts["holdem-6.5"] += 1
        observed.board += new
        observed.update()
        return None

    def _board_clause(self) -> str:
        return "holdem-6.7" if self.game is not None and self.game.hand.turn is CHANCE else "holdem-6.5"

    def _check_hole(self, game: Game, viewer: Guid) -> Iterator[Violation]:
        observed = self.game
        hole = tuple(CARD_NUMBERS[name] for name in game.cards.hole or ())
        seat = None if observed is None else observed.seat_of(viewer)
        self.clause_counts["holdem-5.6"] += 1
        if observed is None or seat is None or viewer in observed.left_players:
            if hole and not (viewer and observed is None):
                yield Violation(
                    "holdem-5.6", f"the hole cards {_format_cards(hole)} for a viewer without any", "no hole cards"
                )
            return
        if len(hole) != 2:
            yield Violation("holdem-5.6", f"the hole cards {_format_cards(hole)} of a player", "two")
            return
        before = observed.holes.get(viewer)
        if before is not None and before != hole:
            yield Violation("holdem-5.6", f"the hole cards {_format_cards(hole)}", _format_cards(before))
            return
        if before is None:
            if twice := {*hole} & {*observed.seen_cards}:
                yield Violation("holdem-6.1", f"{_format_cards(sorted(twice))} dealt twice", "every card once")
                return
            observed.holes[viewer] = hole
            observed.update()

    # Between hands

    def _check_between_hands(self, game: Game) -> Iterator[Violation]:
        """Check a game after the end of a hand or before the first: idle, showing the end, or in the next hand."""
        self._finish_hand()
        shown = {player.player_id: player.wealth + player.bet_so_far for player in game.table}
        idle = not game.turn.player_id
        if idle and any(pot.size for pot in game.pots):
            yield Violation("holdem-5.12", "no player to act while there are chips in the pots", "the turn of a player")
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
        """Compute the chips that the players may have after the hand that has ended."""
        observed = self.game
        if observed is None:
            return
        self.game, self._unsettled_hand = None, observed
        self.last_game = observed
        self.finished_count += 1
        self._cause_clause = self._showdown_clause(observed)
        self._possible_chips = tuple(
            tuple(
                (player, end[seat])
                for seat, player in enumerate(observed.players)
                if player not in observed.left_players
            )
            for end in observed.possible_final_stacks()
        )

    def _showdown_clause(self, observed: ObservedHand) -> str:
        """Return the clause that determines the result of a hand."""
        hand = observed.hand
        if hand.turn is OVER and not hand.showdown_order:
            return "holdem-6.13"
        if len(observed.showdown_pots()) > 1:
            return "holdem-6.12"
        return "holdem-6.15" if hand.turn is OVER and observed.has_all_holes and len(hand.awards) > 1 else "holdem-6.14"

    def _check_result(self, shown: dict[Guid, int]) -> Iterator[Violation]:
        """Check the displayed chips of the players against the possible results of the last hand.

        If a player may be left with no more than a big blind, another hand may have ended unobserved in between.
        """
        before = self._unsettled_hand
        if before is None:
            return
        self._unsettled_hand = None
        found = {player: shown.get(player, 0) for player in before.players if player not in before.left_players}
        total = sum(before.stacks)
        departed_chips = sum(
            before.hand.stacks[seat] for seat, player in enumerate(before.players) if player in before.left_players
        )
        self.clause_counts.update((self._cause_clause, "holdem-5.17"))
        if sum(found.values()) != total - departed_chips:
            self.is_lost = True
            yield Violation(
                "holdem-5.17", f"{sum(found.values())} chips after a hand", f"{total - departed_chips}, as before"
            )
            return
        may_have_missed_hand = any(
            0 < chips <= self._stakes.big_blind for end in self._possible_chips for _, chips in end
        )
        if may_have_missed_hand:
            self._previous_hand = None  # the button may have moved twice
        is_possible = any(dict(end) == found for end in self._possible_chips)
        if self._possible_chips and not may_have_missed_hand and not is_possible:
            self.is_lost = True
            allowed = f"{dict(self._possible_chips[0])}" if len(self._possible_chips) == 1 else "a result of the cards"
            yield Violation(self._cause_clause, f"{found} after a hand", allowed)
            return
        for player in [player for player, chips in found.items() if not chips]:
            self.clause_counts["holdem-3.13"] += 1
            if player in shown:
                yield Violation("holdem-3.13", f"{player} at the table without chips", "only players with chips")
            self._chips.pop(player, None)
            self._previous_hand = None

    def _begin_hand(self, game: Game) -> Iterator[Violation]:
        """Check the first displayed game of a hand, and start to follow the hand."""
        table = game.table
        seats = len(table)
        self.hand_count += 1
        self.clause_counts.update(
            ("holdem-6.3", "holdem-3.1", "holdem-3.5", "holdem-6.4" if seats == 2 else "holdem-6.6", "holdem-6.1")
        )
        blinds = [seat for seat, player in enumerate(table) if player.small_blind]
        if seats < 2 or len(blinds) != 1:
            self.is_lost = True
            yield Violation(
                "holdem-6.3" if seats > 1 else "holdem-6.1", f"{len(blinds)} small blinds of {seats}", "one"
            )
            return
        dealt = {player.player_id for player in table}
        if dealt - self._chips.keys() or self._chips.keys() - dealt - self._newcomers:
            self.is_lost = True
            clause = "holdem-3.10" if dealt - self._chips.keys() else "holdem-3.5"
            yield Violation(clause, f"{seats} players in the hand", f"all {len(self._chips)} seated players")
            return
        self._newcomers.clear()
        for player in table:
            if player.wealth + player.bet_so_far != self._chips[player.player_id]:
                self.is_lost = True
                found = f"{player.wealth + player.bet_so_far} of {player.handle or player.player_id}"
                yield Violation("holdem-3.1", found, f"{self._chips[player.player_id]}")
                return
        small = blinds[0]
        button = small if seats == 2 else (small - 1) % seats
        self.game = ObservedHand(
            [player.player_id for player in table],
            [player.wealth + player.bet_so_far for player in table],
            button,
            self._stakes,
        )
        self._cause_clause = "holdem-6.3"
        yield from self._check_button()
        yield from compare(self.game, game, self._cause_clause, self.clause_counts)

    def _check_button(self) -> Iterator[Violation]:
        """Check that the button has moved to the next player, if the players are the same as in the last hand."""
        observed, last = self.game, self._previous_hand
        self._previous_hand = observed
        if observed is None or last is None or last.players != observed.players:
            return
        self.clause_counts["holdem-6.2"] += 1
        if observed.button != (last.button + 1) % len(observed.players):
            found = f"the button at {observed.players[observed.button]}"
            yield Violation("holdem-6.2", found, observed.players[(last.button + 1) % len(observed.players)])


def _board_numbers(game: Game) -> list[Card]:
    return [CARD_NUMBERS[name] for name in game.cards.board]


def _format_cards(cards: Sequence[Card]) -> str:
    return " ".join(card_names(cards)) or "none"
