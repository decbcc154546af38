"""A referee that follows a hold'em table from its displayed games and its requests, and reports broken rules.

It sees the public view of the table and the hole cards of its own players, and replays each hand by the full rules
(docs/protocols/holdem.md, 4 to 6). It reports nothing that it cannot know for certain.
"""

from collections import Counter, defaultdict, deque
from collections.abc import Collection, Iterator, Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from croupier.core.errors import Violation
from croupier.core.referee import HOUSE, Observation, Sent, Verdict
from croupier.core.rules import Seat
from croupier.rooms.holdem.cards import Card, card_numbers
from croupier.rooms.holdem.engine.legal import Legal
from croupier.rooms.holdem.engine.stakes import STAKES, STARTING_STACK, Stakes
from croupier.rooms.holdem.observed.bet_clauses import INVALID_BET_CLAUSES, invalid_bet_clause, valid_bet_clause
from croupier.rooms.holdem.observed.button import check_button
from croupier.rooms.holdem.observed.cards import check_shown_twice, follow_board, follow_hole
from croupier.rooms.holdem.observed.differences import compare
from croupier.rooms.holdem.observed.early_end import find_early_end
from croupier.rooms.holdem.observed.final_stacks import FinalStacks
from croupier.rooms.holdem.observed.first_game import check_small_blind, dealt_hand, is_uninvolved
from croupier.rooms.holdem.observed.hand import ObservedHand
from croupier.rooms.holdem.observed.shown_chips import broke_by_ante, shown_chips
from croupier.rooms.holdem.observed.unseen_acts import NEWCOMERS_CLAUSE, UnseenActs
from croupier.rooms.holdem.wire import ACTION_FOLD, Act, Game, Guid, HoldemRequest, Join, Leave, Player

SOFT_CLAUSES: Final = frozenset(
    {f"holdem-5.{number}" for number in (3, 6, 7, 8, 9, 10, 11, 13, 14, 15, 19, 20)} | {"holdem-6.2", "holdem-6.8"}
)
"""After violations of these clauses, the referee can still follow the hand."""


TOTAL_CLAUSES: Final = frozenset({"holdem-5.9", "holdem-6.8"})
"""The clauses about the states of players and the smallest raise: a server computes both from the total to match."""

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
        self._cause_clause = "holdem-6.3"  # the clause of the latest change
        self._newcomers: set[Guid] = set()  # players who joined while an unobserved hand may have begun
        self._waiting: set[Guid] = set()  # players who joined and have not been displayed since
        self._has_unseen_change = False  # whether a player has acted or left while an unobserved hand may have begun
        self._unfollowed: Game | None = None  # the latest game displayed of a hand with such a change
        self._previous_hand: ObservedHand | None = None  # the last hand, unless another one may have followed
        self._unseen_acts = UnseenActs(stakes)
        self._has_wrong_total = False  # whether a wrong total to match was displayed in this hand

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
        """Check an event, and return the violations of the server that it shows.

        A server that has displayed a wrong total to match judges the next bets by it: what follows is not reported.
        """
        violations: Sequence[Violation] = ()
        had_wrong_total = self._has_wrong_total
        match event:
            case Sent(_, str(viewer), Game() as game):
                violations = self._on_view(game, viewer)
            case Sent(_, str(player), Answered() as answer) if pending := self._pending_requests[player]:
                violations = self._on_answer(player, pending.popleft(), answer)
            case Sent(str(player), _, (Join() | Leave() | Act()) as request):
                self._pending_requests[player].append(request)
            case _:
                pass
        if had_wrong_total and self.is_lost:
            return []
        return [Verdict(HOUSE, violation) for violation in violations]

    def on_exchange(self, player: Guid, request: HoldemRequest, status: int) -> Sequence[Violation]:
        """Check a request of a player and the status of its answer; return the violations of the server."""
        events: tuple[Sent[TableMessage], ...] = Sent(player, HOUSE, request), Sent(HOUSE, player, Answered(status))
        return [verdict.violation for event in events for verdict in self.on(event)]

    def on_shown(self, viewer: Guid, game: Game) -> Sequence[Violation]:
        """Check a game that is displayed to a player, or to PUBLIC; return the violations of the server."""
        return [verdict.violation for verdict in self.on(Sent(HOUSE, viewer, game))]

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
        self._waiting.add(player)
        if self.game is None or self.game.is_over():
            self._previous_hand = None
            self._newcomers.add(player)

    def _on_leave(self, player: Guid) -> None:
        """Note a player who has left the game: their hand is folded (holdem-3.11).

        If no hand is known to run, it may have been the next one.
        """
        observed = self.game
        seat = None if observed is None else observed.seat_of(player)
        self._chips.pop(player, None)
        self._newcomers.discard(player)
        self._waiting.discard(player)
        if observed is None or observed.is_over():
            self._has_unseen_change, self._unfollowed, self._previous_hand = True, None, None
        if observed is not None and seat is not None:
            observed.left_players.add(player)
            if not observed.is_over() and not observed.hand.folded[seat]:
                self.clause_counts["holdem-3.11"] += 1
                self._apply_action("leave", seat, 0, "holdem-3.11")

    def _on_act(self, player: Guid, action: int, chips: int, answer: Answered) -> Sequence[Violation]:
        """Note a player's act and its answer. Return the violations in the answer."""
        observed = self.game
        status, done = answer.status, answer.is_done
        if self.is_lost:
            return ()
        if observed is None or observed.is_over():
            if done:
                self._has_unseen_change, self._previous_hand = True, None
            return ()
        seat = observed.seat_of(player)
        if seat is None or observed.hand.turn != seat:
            self.clause_counts["holdem-4.13"] += 1
            if done:
                return self._report_violation("holdem-4.13", f"{status}", "a refusal: it is not this player's turn")
            if seat is not None:
                self._unseen_acts.on_refused(seat)
            return ()
        invalid_clause = (
            None
            if action == ACTION_FOLD
            else invalid_bet_clause(observed.hand.legal, chips, observed.hand.stacks[seat])
        )
        cause_clause = invalid_clause or (
            "holdem-4.6" if action == ACTION_FOLD else valid_bet_clause(observed.hand, chips, seat)
        )
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
        if kind == "bet":
            self._unseen_acts.on_bet(self.game, cause_clause)
        self.game.act(kind, seat, chips)
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
        board, hole = card_numbers(game.cards.board), card_numbers(game.cards.hole or ())
        if violation := check_shown_twice(board, hole):
            yield violation
            return
        if (
            self.game is not None
            and not self._may_be_of_missed_hand(self.game, board)
            and (violation := follow_board(self.game, board, self.clause_counts))
        ):
            yield find_early_end(self.game, game, self._unseen_acts.chips(self.game), self._stakes) or violation
            return
        if self.game is None or self.game.is_over():
            yield from self._check_between_hands(game)
        else:
            yield from self._check_running_hand(self.game, game)
        if violation := follow_hole(self.game, hole, viewer, self.clause_counts):
            yield violation

    def _may_be_of_missed_hand(self, observed: ObservedHand, board: Sequence[Card]) -> bool:
        """Whether new cards on the board may be those of a hand without a decision after the observed one."""
        is_longer = observed.is_over() and len(board) > len(observed.board)
        return is_longer and FinalStacks(observed).may_leave_at_most(self._stakes.most_forced)

    def _check_running_hand(self, observed: ObservedHand, game: Game) -> Sequence[Violation]:
        """Check a game that is displayed while a hand runs."""
        violations = [*compare(observed, game, self._cause_clause, self.clause_counts)]
        self._has_wrong_total = self._has_wrong_total or any(one.about == "bet_to_player" for one in violations)
        if self._has_wrong_total:
            violations = [violation for violation in violations if violation.clause not in TOTAL_CLAUSES]
        wrong = [violation for violation in violations if violation.clause != NEWCOMERS_CLAUSE]
        if not wrong:
            self._unseen_acts.on_right_game()
        elif found := self._unseen_acts.find_wrong_folds(observed, game, wrong[0]) or find_early_end(
            observed, game, self._unseen_acts.chips(observed), self._stakes
        ):
            return [found]
        return violations

    # Between hands

    def _check_between_hands(self, game: Game) -> Iterator[Violation]:
        """Check a game after the end of a hand or before the first: idle, showing the end, or in the next hand."""
        if self._is_played_on(game):
            is_invalid = self._cause_clause in INVALID_BET_CLAUSES  # all bets are made because it folds
            clause = self._cause_clause if is_invalid else "holdem-6.14"
            yield Violation(clause, f"the turn of {game.turn.player_id}", "the end of the hand: all bets are made")
            return
        final_stacks = self._finish_hand()
        if len(broke_by_ante(game, self._stakes)) > 1:  # nobody knows what each of them has paid
            self.is_lost = True
            return
        shown = shown_chips(game, self._stakes)
        idle = not game.turn.player_id
        if idle and any(pot.size for pot in game.pots):
            yield Violation("holdem-5.12", "no player to act while there are chips in the pots", "the turn of a player")
            self.is_lost = True
            return
        self._waiting.difference_update(shown)
        if self._has_unseen_change:
            self._forget_unseen(game)
        elif final_stacks is not None:
            yield from self._check_result(final_stacks, shown, game)
        else:
            self._forget_broke(shown)
        if self.is_lost:
            return
        self._chips.update({player: chips for player, chips in shown.items() if player in self._chips})
        if idle:
            self._newcomers.difference_update(shown)
        elif not self._has_unseen_change:
            yield from self._begin_hand(game)

    def _forget_unseen(self, game: Game) -> None:
        """Forget that a player may have acted or left in an unobserved hand, if this game shows that it is over.

        The players who have not been seen since may have lost their chips in it.
        """
        last, self._unfollowed = self._unfollowed, game
        is_idle = not game.turn.player_id
        is_new_hand = last is not None and (
            len(game.cards.board) < len(last.cards.board)
            or sum(pot.size for pot in game.pots) < sum(pot.size for pot in last.pots)
        )
        if is_idle or is_new_hand:
            self._has_unseen_change, self._unfollowed = False, None
            seated = {player.player_id for player in game.table} | self._waiting
            self._chips = {player: chips for player, chips in self._chips.items() if player in seated}

    def _forget_broke(self, shown: Collection[Guid]) -> None:
        """Forget players who are no longer displayed if they may have lost their last chips in an unobserved hand.

        That is a hand of two players without a decision: the blinds put one of them all-in.
        """
        seated = self._chips.keys() - self._newcomers
        for player in seated - {*shown}:
            if len(seated) <= 2 and self._chips[player] <= self._stakes.most_forced:
                del self._chips[player]
                self._previous_hand = None

    def _is_played_on(self, game: Game) -> bool:
        """Whether a hand that comes to a showdown without any more bets has a turn: no other hand has a board yet."""
        observed = self.game
        if observed is None or self._has_unseen_change or not (game.turn.player_id and game.cards.board):
            return False
        return observed.is_decided() or bool(observed.hand.over and observed.hand.showdown_order)

    def _finish_hand(self) -> FinalStacks | None:
        """Return what the players may have after the hand that has ended; None if none has."""
        observed = self.game
        if observed is None:
            return None
        self.game, self.last_game = None, observed
        self.finished_count += 1
        final_stacks = FinalStacks(observed)
        if self._cause_clause in INVALID_BET_CLAUSES and final_stacks.clause == "holdem-6.13":
            final_stacks.clause = self._cause_clause  # it is over only because an invalid bet folds
        self._cause_clause = final_stacks.clause
        return final_stacks

    def _check_result(self, final_stacks: FinalStacks, shown: dict[Guid, int], game: Game) -> Iterator[Violation]:
        """Check the displayed chips of the players against the possible results of the last hand.

        If a player may be left with no more than a big blind, another hand may have ended unobserved in between.
        Players who have joined again had lost all their chips, in one of the two.
        """
        joined_again = self._newcomers.intersection(final_stacks.players)
        may_have_missed_hand = final_stacks.may_leave_at_most(self._stakes.most_forced)
        found = {player: 0 if player in joined_again else shown.get(player, 0) for player in final_stacks.players}
        if may_have_missed_hand:
            self._previous_hand = None  # the button may have moved twice
        violation = None
        if not (may_have_missed_hand and joined_again):
            self.clause_counts.update((self._cause_clause, "holdem-5.17"))
            self.clause_counts["holdem-6.11"] += final_stacks.has_returned_bet
            violation = final_stacks.check_total(found, self._stack)
        if violation is None and not may_have_missed_hand:
            violation = final_stacks.check(found)
        if violation is not None:
            self.is_lost = True
            assert self.last_game is not None, "a result without a hand"
            is_explained = final_stacks.explaining_clause(found) is not None
            if not is_explained and (folded := self._unseen_acts.find_wrong_folds(self.last_game, game, violation)):
                violation = folded
            elif not is_explained and self._unseen_acts.has_ignored_fold(self.last_game, game, self._cause_clause):
                violation = Violation(
                    "holdem-4.6", "a hand that goes on as after a check", "the end of the hand: a fold"
                )
            elif final_stacks.clause in INVALID_BET_CLAUSES:
                violation = final_stacks.find_wrong_invalid_bet(game) or Violation(
                    final_stacks.clause, violation.found, violation.allowed
                )
            yield violation
            return
        for player in [player for player, chips in found.items() if not chips and player not in joined_again]:
            self.clause_counts["holdem-3.13"] += 1
            if player in shown:
                yield Violation("holdem-3.13", f"{player} at the table without chips", "only players with chips")
            self._chips.pop(player, None)

    def _begin_hand(self, game: Game) -> Iterator[Violation]:
        """Check the first displayed game of a hand, and start to follow the hand."""
        waiting = [player for player in game.table if self._waits(player, game)]
        if waiting:
            found = f"{', '.join(player.player_id for player in waiting)} at the table"
            yield Violation(NEWCOMERS_CLAUSE, found, "only players of the hand")
            game = replace(game, table=[player for player in game.table if player not in waiting])
        table = game.table
        seats = len(table)
        self.hand_count += 1
        self.clause_counts.update(
            ("holdem-6.3", "holdem-3.1", "holdem-3.5", "holdem-6.4" if seats == 2 else "holdem-6.6", "holdem-6.1")
        )
        dealt = {player.player_id for player in table}
        payers = {payer for pot in game.pots for payer in pot.players}
        if missing := ({game.turn.player_id} | payers & self._chips.keys()) - dealt:
            self.is_lost = True
            yield Violation("holdem-5.8", f"a table without {', '.join(sorted(missing))}", "all players of the hand")
            return
        if violation := check_small_blind(game, self._stakes):
            self.is_lost = True
            yield violation
            return
        small_blind = next(player for player in table if player.small_blind)
        if dealt - self._chips.keys() or self._chips.keys() - dealt - self._newcomers:
            self.is_lost = True
            clause = "holdem-3.10" if dealt - self._chips.keys() else "holdem-3.5"
            found, due = (", ".join(sorted(players)) for players in (dealt, self._chips))
            yield Violation(clause, f"a hand of {found}", f"one of all seated players: {due}")
            return
        may_wait = [player for player in table if self._has_only_joined(player, game)]
        self._newcomers.clear()
        self.game = dealt_hand(table, small_blind, self._chips, self._stakes)
        self._unseen_acts.begin_hand()
        self._has_wrong_total = False
        self._cause_clause = "holdem-6.3"
        if game.cards.board:
            self.is_lost = True
            yield Violation("holdem-5.5", f"the board {' '.join(game.cards.board)} before the flop", "none yet")
            return
        previous, self._previous_hand = self._previous_hand, self.game
        wrong_button = check_button(previous, self.game, self.clause_counts)
        violations = [*wrong_button, *compare(self.game, game, self._cause_clause, self.clause_counts)]
        if violations and may_wait and (hand := self._right_hand_without(may_wait, game, small_blind)):
            names = ", ".join(player.player_id for player in may_wait)
            violations = [Violation(NEWCOMERS_CLAUSE, f"{names} at the table", "only players of the hand")]
            self.game = self._previous_hand = hand
        yield from violations

    def _right_hand_without(self, waiting: Sequence[Player], game: Game, small_blind: Player) -> ObservedHand | None:
        """Return the hand that a game shows, its first one, if these players wait; None if it is not right then."""
        table = [player for player in game.table if player not in waiting]
        if len(table) < 2 or small_blind not in table:
            return None
        hand = dealt_hand(table, small_blind, self._chips, self._stakes)
        is_right = not [*compare(hand, replace(game, table=table), self._cause_clause, Counter())]
        return hand if is_right else None

    def _has_only_joined(self, player: Player, game: Game) -> bool:
        """Whether a player has joined of whom a displayed game shows neither a bet nor the turn."""
        return player.player_id in self._newcomers and is_uninvolved(player, game)

    def _waits(self, player: Player, game: Game) -> bool:
        """Whether a player who has joined is shown as one who waits for the next hand: folded, and without a bet."""
        return player.state == "folded" and self._has_only_joined(player, game)
