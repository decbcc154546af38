"""Client side of blackjack, for a person, a bot or a program; a referee checks the house while it plays."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from croupier.core.bank import BankState
from croupier.core.bots import Bot, choose_legal
from croupier.core.client_session import ClientSession, LegalMessages
from croupier.core.dealer import Luck
from croupier.core.session import Effect
from croupier.rooms.blackjack.referee import Referee, WireGame
from croupier.rooms.blackjack.rules import MOVES, SURRENDER, check_decks, largest_bet
from croupier.rooms.blackjack.wire import MOV, SRD, STP, Bet, Dialect, Message, Mon

MESSAGE_BY_MOVE: Final[Mapping[str, Message]] = {**MOV, SURRENDER: SRD}


@dataclass(frozen=True)
class Options:
    """The options of a blackjack client.

    Example:
        >>> Options(bet=50).bet
        50
    """

    bet: int = 10
    """The coins that a bot bets on each round, or the largest possible bet if that is less."""

    decks: int = 1
    """The number of decks that the house is assumed to shuffle together, 1 to 8."""

    dialect: Dialect = "document"
    """The size of characters on the wire; char8: one byte."""

    def bot(self) -> str | None:
        """The bot that these options select: none."""
        return None


class Player(ClientSession[Message, WireGame]):
    """See `ClientSession`. It `is_exhausted` when the house has sent a balance that allows no bet."""

    FAREWELL_MESSAGES = (STP,)

    def __init__(self, options: Options = Options(), *, strict: bool = False, reply_timeout: float = 30.0) -> None:
        if options.bet < 1:
            raise ValueError(f"found a bet of {options.bet}; allowed: 1 or more")
        super().__init__(Referee(check_decks(options.decks), strict=strict, reply_timeout=reply_timeout))
        self._bet = options.bet
        self._has_stopped = False

    def decide(self, bot: Bot[BankState, str], luck: Luck, game: int) -> Message | None:  # noqa: ARG002 -- all rounds start the same way
        """The bot's next message: PLY, BET, a move, STP with an empty purse, None while waiting."""
        legal = self.legal
        if self.is_exhausted:
            return STP if STP in legal else None
        if len(legal) < 2:
            return None
        if self.game is None:
            return legal[0]
        return MESSAGE_BY_MOVE[choose_legal(bot, self.game.state, MOVES, luck)]

    def _legal_messages(self) -> Sequence[Message]:
        """The legal messages; of all bets, only the one of the options is listed."""
        legal = self._referee.legal
        if self._has_stopped:
            return ()
        return (
            LegalMessages((Bet(min(self._bet, legal[0].coins)), *legal[1:]), legal.accepts)
            if isinstance(legal, LegalMessages)
            else legal
        )

    def _note_received(self, message: Message) -> None:
        if isinstance(message, Mon):
            self.is_exhausted = largest_bet(message.coins) == 0

    def _note_sent(self, message: Message) -> None:
        self._has_stopped = message == STP  # the house still answers STP (blackjack-8.1)

    def _on_received(self, message: Message, now: float) -> list[Effect[Message]]:
        effects = super()._on_received(message, now)
        return self._close(effects) if message == STP and self._is_open else effects
