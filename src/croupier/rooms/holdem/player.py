"""The client's side of hold'em, for a person, a bot or a program: it follows a table as a server shows it.

It is fed with Games as often as somebody looks, and need not see all of them. Any server that speaks the document will
do, in either dialect.
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
from croupier.rooms.holdem.cards import CARD_NUMBERS, Card
from croupier.rooms.holdem.engine.legal import FOLD, NO_MOVES, IllegalBet, Legal, Move
from croupier.rooms.holdem.table.views import View, VisiblePlayer
from croupier.rooms.holdem.wire import ACTION_BET, Act, Cards, Game, Guid, Leave, Turn
from croupier.rooms.holdem.wire import ACTION_FOLD as FOLDING

type Message = Game | Act | Leave

type Decision = tuple[Turn, tuple[Card, ...], tuple[Card, ...]]
"""What a decision is known by: the turn with its expiry, our cards, and the board."""


@dataclass(frozen=True)
class Options:
    """What can be set about a client of hold'em."""

    user: str = ""
    """The name with which it plays."""

    player: Guid = ""
    """Its playerID. Where that is not known it looks for its name in the table."""


class Player:
    """Follows one game in which it has joined; another one, or joining once more, wants a new Player. See `Session`.

    `game` is what was seen last, and `view` what it means for us: None while we have no cards. `spent` is true when we
    had a seat and have it no more. Chose makes it act, and Halted leave; Tell hands on what was seen or what is wrong
    with it, and Settle tells of each hand that is over, by the chips that it has brought.
    """

    def __init__(self, options: Options = Options()) -> None:
        self.options = options
        self.game: Game | None = None
        self.view: View | None = None
        self.is_exhausted = False
        self._seat: Seat | None = None  # where we are in the table
        self._hand_count = 0
        self._settled_chips: int | None = None  # what we had when the last hand was settled, or the first began
        self._guid: Guid = ""  # ours, as the table has shown it
        self._stack = 0  # what we have left to bet, as far as we know
        self._is_hand_running = False
        self._small_blind: Guid = ""  # who has the small blind in it
        self._acted_boards: list[tuple[Card, ...]] = []  # the boards on which we have acted in it
        self._big_blind = 0  # the smallest of all `minimum_raise`: any round begins with one big blind
        self._open_decision: Decision | None = None
        self._made_decision: Decision | None = None
        self._unconfirmed_decision: Decision | None = None

    @property
    def deadline(self) -> float | None:
        """Never: the time of a turn is the server's business."""
        return None

    @property
    def guid(self) -> Guid:
        """Our playerID; "" while it is not known."""
        return self.options.player or self._guid

    @property
    def legal(self) -> Sequence[Move]:
        """What we may do now: nothing while it is not our turn, or when we have acted in it."""
        return NO_MOVES if self.view is None or self._open_decision is None else self.view.legal

    def find_seat(self, game: Game) -> Seat | None:
        """Where we are in the table of a game, None where we are not."""
        user, player = self.options.user, self.options.player
        for seat, one in enumerate(game.table):
            if one.player_id == player if player else one.handle == user:
                return seat
        return None

    def act(self, move: Move) -> Act:
        """The message that makes a move now. Raises IllegalMove, so that no server ever hears of an invalid bet."""
        legal = self.legal
        if self.game is None or move not in legal:
            raise IllegalBet(move, legal) if isinstance(legal, Legal) else IllegalMove(move, legal)
        action, chips = (FOLDING, 0) if move == FOLD else (ACTION_BET, int(move))
        return Act(self.options.user, self.game.game_id, self.game.turn.player_id, action, chips)

    def decide(self, bot: Bot[View, Move], luck: Luck, game: int = 0) -> Act | None:  # noqa: ARG002 -- every hand is played alike
        """What a mind does now, None while there is nothing to decide. Raises IllegalMove when it must not do that."""
        if self.view is None or not self.legal:
            return None
        return self.act(bot.choose(self.view, self.view.legal, luck))

    def mark_unconfirmed(self) -> None:
        """Nobody knows whether our last act has arrived: if the same decision is asked again, it has not."""
        self._unconfirmed_decision, self._made_decision = self._made_decision, None

    def on(self, event: Event[Game | Act], now: float) -> Sequence[Effect[Message]]:  # noqa: ARG002 -- see `alarm`
        """What the client's side does about an event. Raises IllegalMove on a Chose that is not legal."""
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

    # What is seen

    def _observe(self, game: Game) -> list[Effect[Message]]:
        self.game = game
        seat = self.find_seat(game)
        if seat is None:
            return [Notify(game), *(self._lose_seat() if self._seat is not None else ())]
        self._seat, self._open_decision = seat, None
        self._guid, self._stack = game.table[seat].player_id, game.table[seat].wealth
        if not game.cards.hole:
            return [Notify(game), *self._observe_without_cards(game)]
        effects: list[Effect[Message]] = [Notify(game)]
        chips = game.table[seat].wealth
        pot = sum(pot.size for pot in game.pots)
        hole, board = _card_numbers(game.cards.hole), _board_numbers(game.cards)
        if pot and self._is_new_hand(game, hole, board):
            chips += self._chips_paid(game)
            effects += self._settle(chips) if self._is_hand_running else ()
            self._settled_chips = chips if self._settled_chips is None else self._settled_chips
            self._is_hand_running, self._acted_boards = True, []
        self._small_blind = next((one.player_id for one in game.table if one.small_blind), self._small_blind)
        self._update_decision(game, hole, board)
        self.view = self._make_view(game, hole, board, pot)
        return effects if pot else [*effects, *self._settle(chips)]

    def _observe_without_cards(self, game: Game) -> list[Effect[Message]]:
        """We are at the table, and have no cards."""
        assert self._seat is not None
        us = game.table[self._seat]
        if game.turn.player_id == us.player_id:
            return [Notify(Violation("holdem-5.6", "no hole cards in our own turn", "two"))]
        effects = self._settle(us.wealth)
        self.view = None
        return effects

    def _is_new_hand(self, game: Game, hole: tuple[Card, ...], board: tuple[Card, ...]) -> bool:
        """Whether this is the first that we see of a hand."""
        before = self.view
        if (
            not self._is_hand_running
            or before is None
            or before.hole != hole
            or before.board != board[: len(before.board)]
        ):
            return True
        return any(one.small_blind and one.player_id != self._small_blind for one in game.table)

    def _chips_paid(self, game: Game) -> int:
        """What we have put in so far: our bet, and an equal part of what those have put in who paid before this round.

        That is exact unless somebody had less than an ante, or has folded in a round that we have not seen.
        """
        assert self._seat is not None
        us = game.table[self._seat]
        bets = sum(one.bet_so_far for one in game.table)
        if not bets:
            return sum(pot.size // len(pot.players) for pot in game.pots if us.player_id in pot.players)
        payers = max((len(pot.players) for pot in game.pots), default=0) or len(game.table)
        return us.bet_so_far + max(0, sum(pot.size for pot in game.pots) - bets) // payers

    def _update_decision(self, game: Game, hole: tuple[Card, ...], board: tuple[Card, ...]) -> None:
        """Find out whether we are asked for a decision that we have not made."""
        assert self._seat is not None
        turn = game.turn
        if turn.minimum_raise:
            self._big_blind = min(self._big_blind or turn.minimum_raise, turn.minimum_raise)
        asked = (turn, hole, board) if turn.player_id == game.table[self._seat].player_id else None
        if self._unconfirmed_decision is not None:
            if asked == self._unconfirmed_decision:
                del self._acted_boards[-1:]
            else:
                self._made_decision = self._unconfirmed_decision
            self._unconfirmed_decision = None
        self._open_decision = asked if asked != self._made_decision else None

    def _make_view(self, game: Game, hole: tuple[Card, ...], board: tuple[Card, ...], pot: int) -> View:
        assert self._seat is not None
        turn = game.turn
        return View(
            hole=hole,
            board=board,
            players=tuple(
                VisiblePlayer(
                    one.handle or one.player_id, one.wealth, one.bet_so_far, one.state == "folded", one.small_blind
                )
                for one in game.table
            ),
            me=self._seat,
            pot=pot,
            to_match=turn.bet_to_player,
            min_raise=turn.minimum_raise or self._big_blind or 1,
            big_blind=self._big_blind or 1,
            legal=self._legal_moves(game, board, pot) if self._open_decision else NO_MOVES,
        )

    def _legal_moves(self, game: Game, board: tuple[Card, ...], pot: int) -> Legal:
        """What a valid act is. A raise that nobody could answer is left out: it would be worth a call (holdem-6.11)."""
        turn = game.turn
        stack = game.table[self._seat or 0].wealth
        owed = max(0, turn.bet_to_player - turn.bet_so_far)
        least = turn.minimum_raise or self._big_blind or 1
        answered = any(
            one.wealth and one.state != "folded" for seat, one in enumerate(game.table) if seat != self._seat
        )
        barred = (
            board in self._acted_boards and owed < least
        )  # raised by less than a full raise since we acted (holdem-6.9)
        bounds = (min(owed + least, stack), stack) if stack > owed and answered and not barred else None
        return Legal(owed, min(owed, stack), bounds, pot, can_be_answered=answered)

    # What is done

    def _submit(self, act: Act) -> list[Effect[Message]]:
        if act != self.act(FOLD if act.action == FOLDING else act.amount):
            raise IllegalMove(act, self.legal)
        assert self.view is not None
        self._acted_boards.append(self.view.board)
        self._stack -= act.amount
        self._made_decision, self._open_decision = self._open_decision, None
        return [Send(HOUSE, act)]

    def _leave(self) -> list[Effect[Message]]:
        if self.game is None or self.is_exhausted or not self.guid:
            return [Drop(HOUSE)]
        return [Send(HOUSE, Leave(self.options.user, self.game.game_id, self.guid)), Drop(HOUSE)]

    def _lose_seat(self) -> list[Effect[Message]]:
        """We have no seat any more: broke, out of time or left.

        The last hand has cost what we have put into it. What we had left is forfeited with the seat (H10), and was not
        lost in a hand; only what a blind takes that we have not seen has put us all-in.
        """
        blinded = self._open_decision is None and self._stack <= self._big_blind
        effects = self._settle(0 if blinded else self._stack)
        self.is_exhausted, self.view, self._open_decision = True, None, None
        return effects

    def _settle(self, chips: int) -> list[Effect[Message]]:
        """No hand is running, and we have so many chips: what the last one has brought, with those we have not seen."""
        before = self._settled_chips
        if before is None or (not self._is_hand_running and before == chips):
            return []
        self._settled_chips, self._is_hand_running = chips, False
        self._hand_count += 1
        return [Settle(HOUSE, self._hand_count, self._seat or 0, chips - before, self.view)]


def _card_numbers(names: Sequence[str]) -> tuple[Card, ...]:
    return tuple(CARD_NUMBERS[name] for name in names)


def _board_numbers(cards: Cards) -> tuple[Card, ...]:
    return _card_numbers([*(cards.flop or ()), *(cards.turn or ()), *(cards.river or ())])
