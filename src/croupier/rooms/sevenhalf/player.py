"""Client side of seven and a half, for a person, a bot or a program; a referee checks the house while it plays."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from croupier.core.bank import BankMove, BankState
from croupier.core.bots import Bot
from croupier.core.client_session import ClientSession, LegalMessages
from croupier.core.dealer import Luck
from croupier.core.errors import IllegalMove, Violation
from croupier.core.session import Effect, Left
from croupier.rooms.sevenhalf.interpretation import WireGame
from croupier.rooms.sevenhalf.referee import Referee
from croupier.rooms.sevenhalf.rules import MAX_TOTAL_BET, SevenHalf
from croupier.rooms.sevenhalf.wire import DRAW, PASS, STRT, Ante, Erro, Message


@dataclass(frozen=True)
class Options:
    """The options of a seven-and-a-half client.

    Example:
        >>> Options(stand_at=5.5).bot()
        'book:5.5'
    """

    stand_at: float | None = None
    """Play the bot that draws until it has N points; the same as --bot book:N."""

    limit: int = 1
    """The most that a bot bets in all, in starting bets; 1: it never raises."""

    dialect: Literal["document", "lenient"] = "document"
    """The dialect of the house; a lenient house accepts commands in more places."""

    def bot(self) -> str | None:
        """The bot that these options select, None for the default."""
        return None if self.stand_at is None else f"book:{self.stand_at:g}"


class Player(ClientSession[Message, WireGame]):
    """See `ClientSession`. The protocol has no closing message: the client closes, after an ERRO if the house broke
    a clause.

    It `is_exhausted` when the house has closed between two games, as many do; the next game needs a new connection.
    """

    def __init__(self, options: Options = Options(), *, strict: bool = False, reply_timeout: float = 30.0) -> None:
        if options.limit < 1:
            raise ValueError(f"found the limit {options.limit}; allowed: 1 or more")
        super().__init__(Referee(lenient=options.dialect == "lenient", strict=strict, reply_timeout=reply_timeout))
        self._limit = options.limit
        self._starting_bet = 0
        self._rules = SevenHalf()
        self._last_raise = 0
        self._refused_raises: set[int] = set()

    @property
    def is_broke(self) -> bool:
        """Always False: the player `is_exhausted` because the house has closed, not for lack of coins."""
        return False

    def decide(self, bot: Bot[BankState, BankMove], luck: Luck, game: int) -> Message | None:  # noqa: ARG002 -- all games start the same way
        """The bot's next message: STRT between games, a command in a game, None while waiting."""
        if self.game is None:
            return STRT if STRT in self.legal else None
        if not self.legal:
            return None
        self._update_limit(self.game)
        legal = self._rules.legal(self.game.state)
        if self._refused_raises:
            legal = tuple(move for move in legal if move not in self._refused_raises)
        move = bot.choose(self.game.state, legal, luck)
        if isinstance(move, int):  # also a raise that is not listed: `on` checks it
            return Ante(move)
        if move not in legal:
            raise IllegalMove(repr(move), legal)
        return DRAW if move == "DRAW" else PASS

    def _legal_messages(self) -> Sequence[Message]:
        """The legal messages; the raise to the limit is listed, and all smaller ones are accepted."""
        legal = self._referee.legal
        if not isinstance(legal, LegalMessages) or self.game is None:
            return legal
        self._update_limit(self.game)
        raises = [Ante(move) for move in self._rules.legal(self.game.state) if isinstance(move, int)]
        return LegalMessages((*legal, *raises), legal.accepts)

    def _update_limit(self, game: WireGame) -> None:
        """Recompute the limit when a game has a different starting bet."""
        if not game.state.cards and game.bet != self._starting_bet:
            self._starting_bet = game.bet
            self._rules = SevenHalf(min(MAX_TOTAL_BET, self._limit * self._starting_bet))
            self._refused_raises.clear()

    def _note_sent(self, message: Message) -> None:
        if isinstance(message, Ante):
            self._last_raise = message.coins

    def _note_received(self, message: Message) -> None:
        """Remember refused raises, which are not retried in this game."""
        if isinstance(message, Erro) and self.game is not None:
            self._refused_raises.add(self._last_raise)
        elif self.game is None:
            self._refused_raises.clear()

    def _violation_messages(self, violation: Violation) -> Sequence[object]:
        return (Erro(f"{violation.clause} is broken"),)

    def _on_left(self, event: Left, now: float) -> list[Effect[Message]]:
        was_open = self._is_open
        effects = super()._on_left(event, now)
        self.is_exhausted = was_open and len(effects) == 1 and self.game is None and self.last_game is not None
        return effects
