"""What the screens of games against a house have in common."""

from abc import abstractmethod
from collections import deque
from collections.abc import Iterable, Sequence
from typing import cast

from rich.console import RenderableType

from croupier.clients.game import GameClient
from croupier.core.client_session import ClientSession, FinishedGame
from croupier.core.errors import Violation
from croupier.tui.cards import encodable_or
from croupier.tui.scene import Scene

MAX_HISTORY_GAMES = 8


class HouseScene[M, G: FinishedGame](Scene[M, GameClient]):
    """The screen of a game against a house.

    Subclasses describe messages of the house (`_show_message`), the choices (`_choices`, `_number_prompt`), the table
    (`_render_game`) and a line of the history (`_history_row`).
    """

    errors = (Violation, ConnectionError)

    def __init__(self, place: str) -> None:
        super().__init__(place)
        self._player: ClientSession[M, G]
        self._nets: list[int] = []
        self._earlier_nets: list[int] = []
        self._history: deque[str] = deque(maxlen=MAX_HISTORY_GAMES)
        self._is_notice_stale = False
        self._goodbye = ""
        self._nets_shown = 0

    # The client.

    def sit(self, client: GameClient) -> M | None:
        """Start to show a connection. Return a message to send at once, if any."""
        self._earlier_nets += self._nets
        self._player = cast(ClientSession[M, G], client.player)
        self._nets = client.nets
        self._nets_shown = 0
        return super().sit(client)

    async def receive(self) -> M | None:
        """Wait for the next message; None if the house has closed the connection and a new one can continue."""
        try:
            message: M = await self._client.receive()
        except ConnectionError:
            if not self.is_spent:
                raise
            return None
        return message

    async def submit(self, move: M) -> None:
        """Send a message, which the house may answer with another one."""
        await self._client.send(move)
        self.on_sent(move)

    def end_reason(self, error: Exception) -> str:
        """Return the text for an error."""
        if isinstance(error, Violation):
            return f"The house broke the protocol. {error}; its last message: {self._client.last_received or 'none'}"
        return f"{str(error)[:1].upper()}{str(error)[1:]}"

    # Events.

    def on_received(self, item: M) -> None:
        """Show a message of the house."""
        self._waiting_notice = ""
        self._goodbye = ""
        self._show_message(item)

    def on_submitted(self, move: M) -> None:
        """Keep the notice until the message is sent."""

    def on_sent(self, message: M) -> None:  # noqa: ARG002 -- some subclasses use it
        """Note that a message was sent: the next notice replaces the current one."""
        self._is_notice_stale = True

    def on_closed(self) -> None:
        """Show that the house closed the connection, when a new one can continue the game."""
        self._add_notice("The house has closed this table.")

    def on_ended(self, reason: str) -> None:
        """Show the reason why the session has ended."""
        super().on_ended(f"{self._goodbye} {reason}".strip())

    @property
    def is_spent(self) -> bool:
        """Whether this connection allows no further game; a new one may."""
        return self._player.is_exhausted

    # Implemented by subclasses.

    @abstractmethod
    def _show_message(self, message: M) -> None:
        """Describe a message of the house."""

    @abstractmethod
    def _render_game(self, game: G | None) -> Sequence[RenderableType]:
        """Render the current game, or the last one."""

    @abstractmethod
    def _history_row(self, game: G) -> str:
        """Return a finished game as one line, without its result in coins."""

    # Shared by all games against a house.

    @property
    def _is_playing(self) -> bool:
        return self._player.game is not None

    def _add_notice(self, text: str) -> None:
        """Append to the notice, or replace it if it is from before the last message that was sent."""
        self._notice = text if self._is_notice_stale else f"{self._notice} {text}".strip()
        self._is_notice_stale = False

    def _add_finished_game(self) -> None:
        """Add a game that has just ended to the history."""
        last = self._player.last_game
        if last is None or len(self._nets) == self._nets_shown:
            return
        self._nets_shown = len(self._nets)
        self._history.append(f"{self._history_row(last)} {last.net:+d}")
        self._add_notice(f"You {'win' if last.net > 0 else 'lose'} {abs(last.net)}." if last.net else "Nobody wins.")

    def _legal_or_none(self, message: M) -> M | None:
        return message if message in self._player.legal else None

    def _render_table(self) -> Sequence[RenderableType]:
        return self._render_game(self._player.game or self._player.last_game) if self._is_seated else []

    def _score_text(self) -> str:
        nets = self._earlier_nets + self._nets
        return f"Games: {len(nets)}   Coins won: {sum(nets):+d}"

    def _history_lines(self) -> Iterable[str]:
        return self._history

    def _input_hints(self) -> list[str]:
        if [*self._choices()] or self._number_prompt() is not None:
            return []
        return [f"Waiting for the house {encodable_or('…', '...')}"]

    def _hint(self) -> str:
        return super()._hint() if self._is_seated else f"Connecting {encodable_or('…', '...')}  [q] leave"
