"""Client side of Kuhn poker, for a person, a bot or a program; a referee checks the house while it plays."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from croupier.core.bots import Bot, choose_legal
from croupier.core.client_session import ClientSession
from croupier.core.dealer import Luck
from croupier.rooms.kuhn.referee import Referee, WireGame
from croupier.rooms.kuhn.rules import KuhnAction, View
from croupier.rooms.kuhn.wire import ACTN, DISC, NO_COINS, STRT, Actn, Message

SEAT_CHOICES: Final = {"1": ("P_1",), "2": ("P_2",), "both": ("P_1", "P_2")}


@dataclass(frozen=True)
class Options:
    """The options of a Kuhn poker client.

    Example:
        >>> Options(seat="1").seat
        '1'
    """

    seat: Literal["1", "2", "both"] = "both"
    """The seat a bot takes; both: alternate between the two."""

    def bot(self) -> str | None:
        """The bot that these options select: none."""
        return None


class Player(ClientSession[Message, WireGame]):
    """See `ClientSession`. It `is_exhausted` when the house has refused a STRT because the purse is empty."""

    FAREWELL_MESSAGES = (DISC,)
    FINAL_MESSAGES = (DISC,)

    def __init__(self, options: Options = Options(), *, strict: bool = False, reply_timeout: float = 30.0) -> None:  # noqa: ARG002 -- strictness makes no difference in this room
        super().__init__(Referee(reply_timeout=reply_timeout))
        self._seats = SEAT_CHOICES[options.seat]
        self._last_sent: Message = DISC
        self._refused: set[Message] = set()

    def decide(self, bot: Bot[View, KuhnAction], luck: Luck, game: int) -> Message | None:
        """The bot's next message: STRT between games, ACTN in a game, DISC with an empty purse, None while waiting."""
        if self.is_exhausted:
            return DISC if DISC in self.legal else None
        actions = tuple(message.action for message in self.legal if isinstance(message, Actn))
        if self.game is not None and actions:
            return ACTN[choose_legal(bot, self.game.view, actions, luck)]
        start = STRT[self._seats[game % len(self._seats)]]
        return start if start in self.legal else None

    def _legal_messages(self) -> Sequence[Message]:
        """The referee's legal messages without those that the house has just refused for lack of coins."""
        legal = self._referee.legal
        return tuple(message for message in legal if message not in self._refused)

    def _note_received(self, message: Message) -> None:
        if message == NO_COINS:
            self.is_exhausted = self._last_sent in STRT.values()
            self._refused.add(self._last_sent)
        else:
            self._refused.clear()

    def _note_sent(self, message: Message) -> None:
        self._last_sent = message
