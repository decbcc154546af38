"""The client side of hold'em, for interactive players, bots and programs.

It follows a game from the Game objects of any server that implements the document, in either dialect. It need not see
every state of the game.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from croupier.core.bots import Bot
from croupier.core.dealer import Luck
from croupier.core.errors import IllegalMove, Violation
from croupier.core.referee import HOUSE
from croupier.core.rules import Seat
from croupier.core.session import (
    Closing,
    Drop,
    Effect,
    Event,
    Left,
    Malformed,
    Notify,
    Received,
    Send,
    Settle,
    Submitted,
)
from croupier.rooms.holdem.cards import Card, card_numbers
from croupier.rooms.holdem.engine.legal import FOLD, NO_MOVES, IllegalBet, Legal, Move
from croupier.rooms.holdem.engine.stakes import STARTING_STACK
from croupier.rooms.holdem.table.views import SnapshotView, View
from croupier.rooms.holdem.wire import ACTION_BET, Act, Game, Guid, Leave, Turn
from croupier.rooms.holdem.wire import ACTION_FOLD as FOLDING

type Message = Game | Act | Leave

type Decision = tuple[Turn, tuple[Card, ...], tuple[Card, ...]]
"""The identity of a decision: the turn with its expiry, our hole cards, and the board."""


@dataclass(frozen=True)
class Options:
    """Options of a hold'em client.

    Example:
        >>> Options(user="ann").user
        'ann'
    """

    user: str = ""
    """The user name."""

    player: Guid = ""
    """The playerID. If it is not known, the client looks for its user name in the table."""


class Player:
    """A client session (see `Session`) for one game that the client has joined. Use a new Player after each join.

    `game` is the last observed state, and `view` our view of it: None while we have no cards. `nets` are our results of
    the finished hands, in chips. `is_exhausted` is true after we have lost our seat. A Submitted event makes the client
    act, a Closing event makes it leave. Notify effects pass on observed games and violations; a Settle effect reports
    each finished hand with our net result.
    """

    def __init__(self, options: Options = Options()) -> None:
        self.options = options
        self.game: Game | None = None
        self.view: View | None = None
        self.nets: list[int] = []
        self.is_exhausted = False
        self._seat: Seat | None = None  # our index in the table
        self._settled_chips: int | None = None  # our chips when the last hand was settled, or the first began
        self._guid: Guid = ""  # our playerID as shown in the table
        self._stack = 0  # our chips left, as far as we know
        self._is_hand_running = False
        self._has_folded = False  # in the running hand
        self._small_blind: Guid = ""  # the player with the small blind of the running hand
        self._has_button_moved = False  # whether we have seen it move
        self._possible_misses = 0  # the hands that we have missed if the button moves
        self._payers: set[Guid] = set()  # the players who have put chips into the running hand, as far as we have seen
        self._acted_boards: list[tuple[Card, ...]] = []  # the boards on which we have acted in the running hand
        self._big_blind = 0  # the smallest `minimum_raise` seen: every round begins with one big blind
        self._ante: int | None = None  # the smallest share in the pots seen before the flop, besides the bets
        self._small_bet = 0  # the smallest small blind seen
        self._open_decision: Decision | None = None
        self._made_decision: Decision | None = None
        self._unconfirmed_decision: Decision | None = None

    @property
    def deadline(self) -> float | None:
        """Always None: the server enforces the time of a turn."""
        return None

    @property
    def guid(self) -> Guid:
        """Our playerID; "" while it is unknown."""
        return self.options.player or self._guid

    @property
    def legal(self) -> Sequence[Move]:
        """Our legal moves: empty out of turn, and after we have acted in the turn."""
        return NO_MOVES if self.view is None or self._open_decision is None else self.view.legal

    def find_seat(self, game: Game) -> Seat | None:
        """Return our index in the table of a game; None if we are not in it."""
        user, guid = self.options.user, self.options.player
        for seat, player in enumerate(game.table):
            if player.player_id == guid if guid else player.handle == user:
                return seat
        return None

    def act(self, move: Move) -> Act:
        """Return the request for a move. Raises IllegalMove, so that no server ever receives an invalid bet."""
        legal = self.legal
        if self.game is None or move not in legal:
            raise IllegalBet(move, legal) if isinstance(legal, Legal) else IllegalMove(move, legal)
        action, chips = (FOLDING, 0) if move == FOLD else (ACTION_BET, int(move))
        return Act(self.options.user, self.game.game_id, self.game.turn.player_id, action, chips)

    def decide(self, bot: Bot[View, Move], luck: Luck) -> Act | None:
        """Return the act that a bot chooses, or None if there is no decision. Raises IllegalMove on an illegal move."""
        if self.view is None or not self.legal:
            return None
        return self.act(bot.choose(self.view, self.view.legal, luck))

    def mark_unconfirmed(self) -> None:
        """Note that our last act may not have arrived: if the same decision is requested again, it has not."""
        self._unconfirmed_decision, self._made_decision = self._made_decision, None

    def on(self, event: Event[Game | Act], now: float) -> Sequence[Effect[Message]]:  # noqa: ARG002 -- see `deadline`
        """Handle an event. Raises IllegalMove if a submitted act is not legal."""
        match event:
            case Received(_, Game() as game):
                return self._observe(game)
            case Submitted(Act() as act):
                return self._submit(act)
            case Malformed(_, violation):
                return [Notify(violation)]
            case Left():
                return [*self._lose_seat(), Notify(event)]
            case Closing():
                return self._leave()
            case _:
                return []

    # Observations

    def _observe(self, game: Game) -> list[Effect[Message]]:
        self.game = game
        seat = self.find_seat(game)
        if seat is None:
            return [Notify(game), *(self._lose_seat() if self._seat is not None else ())]
        self._seat, self._open_decision = seat, None
        self._guid = game.table[seat].player_id
        previous_stack, self._stack = self._stack, game.table[seat].wealth
        if not game.cards.hole:
            return [Notify(game), *self._observe_without_cards(game)]
        effects: list[Effect[Message]] = [Notify(game)]
        chips = game.table[seat].wealth
        pot = sum(pot.size for pot in game.pots)
        hole, board = card_numbers(game.cards.hole), card_numbers(game.cards.board)
        if pot and not board:
            self._observe_forced_bets(game)
        if (pot or self._is_hand_running) and self._is_new_hand(game, hole, board):
            chips += self._chips_paid(game) if pot else 0
            effects += self._settle_before(game, chips, previous_stack)
            self._is_hand_running, self._acted_boards, self._has_folded, self._payers = bool(pot), [], False, set()
        self._observe_players(game)
        effects += self._settle_possible_misses()
        self._update_decision(game, hole, board)
        self.view = self._make_view(game, hole, board, pot)
        return effects if pot else [*effects, *self._settle(chips)]

    def _observe_without_cards(self, game: Game) -> list[Effect[Message]]:
        """Handle a game in which we have a seat but no cards."""
        assert self._seat is not None
        own = game.table[self._seat]
        if game.turn.player_id == own.player_id:
            return [Notify(Violation("holdem-5.6", "no hole cards in our own turn", "two"))]
        effects = self._settle(own.wealth)
        self.view = None
        return effects

    def _is_new_hand(self, game: Game, hole: tuple[Card, ...], board: tuple[Card, ...]) -> bool:
        """Return whether this is the first observed state of a hand."""
        previous = self.view
        if (
            not self._is_hand_running
            or previous is None
            or previous.hole != hole
            or previous.board != board[: len(previous.board)]
        ):
            return True
        return any(player.small_blind and player.player_id != self._small_blind for player in game.table)

    def _observe_players(self, game: Game) -> None:
        """Note who has the small blind, who has put in chips, and whether we have folded."""
        assert self._seat is not None
        small_blind = next((player.player_id for player in game.table if player.small_blind), self._small_blind)
        self._has_button_moved |= self._small_blind not in ("", small_blind)
        self._small_blind = small_blind
        self._payers.update(player.player_id for player in game.table if player.bet_so_far)
        self._payers.update(*(pot.players for pot in game.pots))
        self._has_folded |= game.table[self._seat].state == "folded"

    def _observe_forced_bets(self, game: Game) -> None:
        """Note the ante and the small blind: the smallest that are seen before the flop."""
        share = self._share_before_round(game)
        self._ante = share if self._ante is None else min(self._ante, share)
        bet = next((player.bet_so_far for player in game.table if player.small_blind), 0)
        self._small_bet = min(self._small_bet or bet, bet)

    def _settle_before(self, game: Game, chips: int, previous_stack: int) -> list[Effect[Message]]:
        """Settle the hands before the one whose first observed state this is, and a missed one whose end this is.

        `chips` are our chips after them, `previous_stack` our stack in the state before. If a hand was missed, its big
        blind has won the small blind and the antes of the others. Where neither our stack nor the button shows whether
        one was missed, it is settled when the button is seen to move.
        """
        won = self._small_bet + (self._ante or 0) * (len(game.table) - 1)
        if self._settled_chips is None:
            self._settled_chips = STARTING_STACK if chips - won == STARTING_STACK else chips
            return self._settle(chips)
        is_over = not any(pot.size for pot in game.pots)
        if not is_over and not self._has_missed_hand(game):
            return self._settle(chips) if self._is_hand_running else []
        if not self._is_hand_running:
            return self._settle(chips)
        if not (is_over or self._has_folded or self._has_button_moved):
            self._possible_misses += 1
            return self._settle(chips)
        return [*self._settle(previous_stack if self._has_folded else chips - won), *self._settle(chips)]

    def _settle_possible_misses(self) -> list[Effect[Message]]:
        """Settle the possible misses once the button moves. Their chips are in the results of the hands before them."""
        if not self._has_button_moved:
            return []
        misses, self._possible_misses = self._possible_misses, 0
        return [self._add_result(0) for _ in range(misses)]

    def _has_missed_hand(self, game: Game) -> bool:
        """Return whether the small blind, if it moves, shows that a hand was played since the last observed one.

        Only a player who need not act can miss a hand: the big blind, when all others fold. It has the small blind in
        the next hand, which has moved on by two players since the last observed hand.
        """
        assert self._seat is not None
        table = game.table
        big_blind, small_blind = (table[(self._seat - places) % len(table)].player_id for places in (1, 2))
        return table[self._seat].small_blind and small_blind == self._small_blind and big_blind in self._payers

    def _chips_paid(self, game: Game) -> int:
        """Return the chips we have put in: our bet, and an equal share of the chips put in before this round.

        The result is exact unless a player had less than an ante, or has folded in a round that we have not observed.
        """
        assert self._seat is not None
        own = game.table[self._seat]
        if not any(player.bet_so_far for player in game.table):
            return sum(pot.size // len(pot.players) for pot in game.pots if own.player_id in pot.players)
        return own.bet_so_far + self._share_before_round(game)

    def _share_before_round(self, game: Game) -> int:
        """Return an equal share of the chips put in before this round."""
        bets = sum(player.bet_so_far for player in game.table)
        payers = max((len(pot.players) for pot in game.pots), default=0) or len(game.table)
        return max(0, sum(pot.size for pot in game.pots) - bets) // payers

    def _update_decision(self, game: Game, hole: tuple[Card, ...], board: tuple[Card, ...]) -> None:
        """Update whether there is a decision of ours that we have not made yet."""
        assert self._seat is not None
        turn = game.turn
        if turn.minimum_raise:
            self._big_blind = min(self._big_blind or turn.minimum_raise, turn.minimum_raise)
        decision = (turn, hole, board) if turn.player_id == game.table[self._seat].player_id else None
        if self._unconfirmed_decision is not None:
            if decision == self._unconfirmed_decision:
                del self._acted_boards[-1:]
            else:
                self._made_decision = self._unconfirmed_decision
            self._unconfirmed_decision = None
        self._open_decision = decision if decision != self._made_decision else None

    def _make_view(self, game: Game, hole: tuple[Card, ...], board: tuple[Card, ...], pot: int) -> View:
        assert self._seat is not None
        turn = game.turn
        table = game.table
        return SnapshotView(
            hole,
            board,
            names=tuple(player.handle or player.player_id for player in table),
            stacks=tuple(player.wealth for player in table),
            bets=tuple(player.bet_so_far for player in table),
            live=sum(1 << seat for seat, player in enumerate(table) if player.state != "folded"),
            small_blind=next((seat for seat, player in enumerate(table) if player.small_blind), None),
            me=self._seat,
            pot=pot,
            to_match=turn.bet_to_player,
            min_raise=turn.minimum_raise or self._big_blind or 1,
            big_blind=self._big_blind or 1,
            legal=self._legal_moves(game, board, pot) if self._open_decision else NO_MOVES,
        )

    def _legal_moves(self, game: Game, board: tuple[Card, ...], pot: int) -> Legal:
        """Return our legal moves. Raises that no player could answer are omitted: they count as calls (holdem-6.11)."""
        turn = game.turn
        stack = game.table[self._seat or 0].wealth
        to_call = max(0, turn.bet_to_player - turn.bet_so_far)
        min_raise = turn.minimum_raise or self._big_blind or 1
        can_be_answered = any(
            player.wealth and player.state != "folded" for seat, player in enumerate(game.table) if seat != self._seat
        )
        # After our last act we have faced only raises short of a full raise (holdem-6.9).
        not_reopened = board in self._acted_boards and to_call < min_raise
        can_raise = stack > to_call and can_be_answered and not not_reopened
        raise_range = (min(to_call + min_raise, stack), stack) if can_raise else None
        return Legal(to_call, min(to_call, stack), raise_range, pot, can_be_answered=can_be_answered)

    # Actions

    def _submit(self, act: Act) -> list[Effect[Message]]:
        if act != self.act(FOLD if act.action == FOLDING else act.amount):
            raise IllegalMove(act, self.legal)
        assert self.view is not None
        self._acted_boards.append(self.view.board)
        self._stack -= act.amount
        self._has_folded |= act.action == FOLDING
        self._made_decision, self._open_decision = self._open_decision, None
        return [Send(HOUSE, act)]

    def _leave(self) -> list[Effect[Message]]:
        if self.game is None or self.is_exhausted or not self.guid:
            return [Drop(HOUSE)]
        return [Send(HOUSE, Leave(self.options.user, self.game.game_id, self.guid)), Drop(HOUSE)]

    def _lose_seat(self) -> list[Effect[Message]]:
        """Handle the loss of our seat: we are broke, out of time, or have left.

        The last hand has cost the chips that we put into it. The chips we had left are forfeited with the seat (H10)
        and are not part of its result, unless unobserved forced bets have put us all-in.
        """
        forced = self._big_blind + (self._ante or 0)
        all_in_unobserved = self._open_decision is None and self._stack <= forced
        effects = self._settle(0 if all_in_unobserved else self._stack)
        self.is_exhausted, self.view, self._open_decision = True, None, None
        return effects

    def _settle(self, chips: int) -> list[Effect[Message]]:
        """Settle the last hand, and unobserved ones, given our chips while no hand is running."""
        previous = self._settled_chips
        if previous is None or (not self._is_hand_running and previous == chips):
            return []
        self._settled_chips, self._is_hand_running = chips, False
        return [self._add_result(chips - previous)]

    def _add_result(self, net: int) -> Settle:
        self.nets.append(net)
        return Settle(HOUSE, len(self.nets), self._seat or 0, net, self.view)
