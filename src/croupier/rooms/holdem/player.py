"""The client's side of hold'em, for a person, a bot or a program: it follows a table as a server shows it.

It is fed with Games as often as somebody looks, and need not see all of them. Any server that speaks the document will
do, in either dialect.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from croupier.core.bots import Mind
from croupier.core.dealer import Luck
from croupier.core.errors import IllegalMove, Violation
from croupier.core.referee import HOUSE
from croupier.core.rules import Seat
from croupier.core.session import Chose, Drop, Effect, Event, Garbled, Halted, Left, Said, Say, Settle, Tell
from croupier.rooms.holdem.cards import NUMBERS, Card
from croupier.rooms.holdem.engine.legal import FOLD, NOTHING, IllegalBet, Legal, Move
from croupier.rooms.holdem.table.views import Seen, View
from croupier.rooms.holdem.wire import BET, Act, Cards, Game, Guid, Leave, Turn
from croupier.rooms.holdem.wire import FOLD as FOLDING

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
        self.spent = False
        self._seat: Seat | None = None  # where we are in the table
        self._hands = 0
        self._chips: int | None = None  # what we had when the last hand was settled, or the first began
        self._guid: Guid = ""  # ours, as the table has shown it
        self._behind = 0  # what we have left to bet, as far as we know
        self._running = False
        self._small: Guid = ""  # who has the small blind in it
        self._rounds: list[tuple[Card, ...]] = []  # the boards on which we have acted in it
        self._big_blind = 0  # the smallest of all `minimum_raise`: any round begins with one big blind
        self._open: Decision | None = None
        self._made: Decision | None = None
        self._doubted: Decision | None = None

    @property
    def alarm(self) -> float | None:
        """Never: the time of a turn is the server's business."""
        return None

    @property
    def guid(self) -> Guid:
        """Our playerID; "" while it is not known."""
        return self.options.player or self._guid

    @property
    def legal(self) -> Sequence[Move]:
        """What we may do now: nothing while it is not our turn, or when we have acted in it."""
        return NOTHING if self.view is None or self._open is None else self.view.legal

    def listed(self, game: Game) -> Seat | None:
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
        action, chips = (FOLDING, 0) if move == FOLD else (BET, int(move))
        return Act(self.options.user, self.game.game_id, self.game.turn.player_id, action, chips)

    def decide(self, mind: Mind[View, Move], luck: Luck, game: int = 0) -> Act | None:  # noqa: ARG002 -- every hand is played alike
        """What a mind does now, None while there is nothing to decide. Raises IllegalMove when it must not do that."""
        if self.view is None or not self.legal:
            return None
        return self.act(mind.choose(self.view, self.view.legal, luck))

    def unsay(self) -> None:
        """Nobody knows whether our last act has arrived: if the same decision is asked again, it has not."""
        self._doubted, self._made = self._made, None

    def on(self, event: Event[Game | Act], now: float) -> Sequence[Effect[Message]]:  # noqa: ARG002 -- see `alarm`
        """What the client's side does about an event. Raises IllegalMove on a Chose that is not legal."""
        match event:
            case Said(_, Game() as game):
                return self._saw(game)
            case Chose(Act() as act):
                return self._chose(act)
            case Garbled(_, violation):
                return [Tell(violation)]
            case Left():
                return [*self._gone(), Tell(event)]
            case Halted():
                return self._leave()
            case _:
                return []

    # What is seen

    def _saw(self, game: Game) -> list[Effect[Message]]:
        self.game = game
        seat = self.listed(game)
        if seat is None:
            return [Tell(game), *(self._gone() if self._seat is not None else ())]
        self._seat, self._open = seat, None
        self._guid, self._behind = game.table[seat].player_id, game.table[seat].wealth
        if not game.cards.hole:
            return [Tell(game), *self._idle(game)]
        effects: list[Effect[Message]] = [Tell(game)]
        chips = game.table[seat].wealth
        pot = sum(pot.size for pot in game.pots)
        hole, board = _numbers(game.cards.hole), _board(game.cards)
        if pot and self._begins(game, hole, board):
            chips += self._paid(game)
            effects += self._settled(chips) if self._running else ()
            self._chips = chips if self._chips is None else self._chips
            self._running, self._rounds = True, []
        self._small = next((one.player_id for one in game.table if one.small_blind), self._small)
        self._ask(game, hole, board)
        self.view = self._look(game, hole, board, pot)
        return effects if pot else [*effects, *self._settled(chips)]

    def _idle(self, game: Game) -> list[Effect[Message]]:
        """We are at the table, and have no cards."""
        assert self._seat is not None
        us = game.table[self._seat]
        if game.turn.player_id == us.player_id:
            return [Tell(Violation("holdem-5.6", "no hole cards in our own turn", "two"))]
        effects = self._settled(us.wealth)
        self.view = None
        return effects

    def _begins(self, game: Game, hole: tuple[Card, ...], board: tuple[Card, ...]) -> bool:
        """Whether this is the first that we see of a hand."""
        before = self.view
        if not self._running or before is None or before.hole != hole or before.board != board[: len(before.board)]:
            return True
        return any(one.small_blind and one.player_id != self._small for one in game.table)

    def _paid(self, game: Game) -> int:
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

    def _ask(self, game: Game, hole: tuple[Card, ...], board: tuple[Card, ...]) -> None:
        """Find out whether we are asked for a decision that we have not made."""
        assert self._seat is not None
        turn = game.turn
        if turn.minimum_raise:
            self._big_blind = min(self._big_blind or turn.minimum_raise, turn.minimum_raise)
        asked = (turn, hole, board) if turn.player_id == game.table[self._seat].player_id else None
        if self._doubted is not None:
            if asked == self._doubted:
                del self._rounds[-1:]
            else:
                self._made = self._doubted
            self._doubted = None
        self._open = asked if asked != self._made else None

    def _look(self, game: Game, hole: tuple[Card, ...], board: tuple[Card, ...], pot: int) -> View:
        assert self._seat is not None
        turn = game.turn
        return View(
            hole=hole,
            board=board,
            players=tuple(
                Seen(one.handle or one.player_id, one.wealth, one.bet_so_far, one.state == "folded", one.small_blind)
                for one in game.table
            ),
            me=self._seat,
            pot=pot,
            to_match=turn.bet_to_player,
            min_raise=turn.minimum_raise or self._big_blind or 1,
            big_blind=self._big_blind or 1,
            legal=self._allowed(game, board, pot) if self._open else NOTHING,
        )

    def _allowed(self, game: Game, board: tuple[Card, ...], pot: int) -> Legal:
        """What a valid act is. A raise that nobody could answer is left out: it would be worth a call (holdem-6.11)."""
        turn = game.turn
        stack = game.table[self._seat or 0].wealth
        owed = max(0, turn.bet_to_player - turn.bet_so_far)
        least = turn.minimum_raise or self._big_blind or 1
        answered = any(
            one.wealth and one.state != "folded" for seat, one in enumerate(game.table) if seat != self._seat
        )
        barred = board in self._rounds and owed < least  # raised by less than a full raise since we acted (holdem-6.9)
        bounds = (min(owed + least, stack), stack) if stack > owed and answered and not barred else None
        return Legal(owed, min(owed, stack), bounds, pot, answered=answered)

    # What is done

    def _chose(self, act: Act) -> list[Effect[Message]]:
        if act != self.act(FOLD if act.action == FOLDING else act.amount):
            raise IllegalMove(act, self.legal)
        assert self.view is not None
        self._rounds.append(self.view.board)
        self._behind -= act.amount
        self._made, self._open = self._open, None
        return [Say(HOUSE, act)]

    def _leave(self) -> list[Effect[Message]]:
        if self.game is None or self.spent or not self.guid:
            return [Drop(HOUSE)]
        return [Say(HOUSE, Leave(self.options.user, self.game.game_id, self.guid)), Drop(HOUSE)]

    def _gone(self) -> list[Effect[Message]]:
        """We have no seat any more: broke, out of time or left.

        The last hand has cost what we have put into it. What we had left is forfeited with the seat (H10), and was not
        lost in a hand; only what a blind takes that we have not seen has put us all-in.
        """
        blinded = self._open is None and self._behind <= self._big_blind
        effects = self._settled(0 if blinded else self._behind)
        self.spent, self.view, self._open = True, None, None
        return effects

    def _settled(self, chips: int) -> list[Effect[Message]]:
        """No hand is running, and we have so many chips: what the last one has brought, with those we have not seen."""
        before = self._chips
        if before is None or (not self._running and before == chips):
            return []
        self._chips, self._running = chips, False
        self._hands += 1
        return [Settle(HOUSE, self._hands, self._seat or 0, chips - before, self.view)]


def _numbers(names: Sequence[str]) -> tuple[Card, ...]:
    return tuple(NUMBERS[name] for name in names)


def _board(cards: Cards) -> tuple[Card, ...]:
    return _numbers([*(cards.flop or ()), *(cards.turn or ()), *(cards.river or ())])
