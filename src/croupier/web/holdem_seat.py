"""A person's seat at a hold'em table: the requests of the REST service, without HTTP between."""

import asyncio
import time
from asyncio import Future
from collections.abc import Callable
from functools import partial
from http import HTTPStatus
from typing import Final

from msgspec.structs import replace

from croupier.core.errors import Violation
from croupier.core.presentation import ActionView, Refused, TableView, Text, text
from croupier.core.referee import HOUSE
from croupier.core.session import Notify, Received, Submitted
from croupier.http.house_group import HouseGroup
from croupier.http.messages import encode_response
from croupier.http.routes import OPERATIONS
from croupier.http.views import GameViewCache
from croupier.rooms.holdem.player import Options, Player
from croupier.rooms.holdem.presenter import GIVE_UP_SEAT, HoldemPresenter
from croupier.rooms.holdem.wire import (
    Act,
    ActDone,
    ComeBack,
    Created,
    Guid,
    HoldemRequest,
    HoldemResponse,
    Join,
    Leave,
    Open,
    Queued,
    RequestRefused,
)
from croupier.web.feed import RenderTable
from croupier.web.holdem_games import follow_game, with_absent_people
from croupier.web.rest_bytes import answer_bytes, request_bytes
from croupier.web.seats import LEFT, Seat

MAX_HOLDEM_FRAMES: Final = 10
"""Frames of hold'em are long: each state of the game is one."""

COME_BACK: Final = ActionView("back", text("I am back"), "b", text("takes part in the game again"))
COME_BACK_CLAUSE: Final = "holdem-9.15"
YOU_ARE_AWAY: Final = text("You are away: your hands are checked and folded.")
GAME_GONE: Final = text("This game does not exist any more.")
SERVICE_CLOSED: Final = text("The server is shutting down. Your seat and your chips are kept.")
CLAUSES: Final = {operation.id: operation.clause for operation in OPERATIONS}


REFUSALS: Final = {
    "holdem-3.3": text("All games of this room are taken."),
    "holdem-3.7": text("You are in this game already."),
    "holdem-3.15": text("The room is about to close."),
    "holdem-3.17": text("The room cannot store its games now. Try again later."),
    "holdem-4.13": text("It is not your turn."),
    "holdem-7.4": text("It is not your turn."),
    "holdem-8.4": GAME_GONE,
    "holdem-8.5": text("You no longer have a seat in this game."),
    "holdem-9.11": text("You are in as many games as one player may be."),
}
"""What people read instead of the problem that is written for programs, by the clause of the refusal."""

BET_REFUSED: Final = text("The bet is not allowed: your hand is folded.")


class SeatRefused(Refused):
    """The room gives no seat."""


class HoldemSeat(Seat):
    """A seat of a user in a game; `join` takes it, and `resume` returns to one that the user has already.

    The frames are the requests and responses that the REST service would carry.
    """

    _presenter: HoldemPresenter

    def __init__(self, service: HouseGroup, user: str, game: Guid, player: Guid, render: RenderTable) -> None:
        self.game = game
        self._service = service
        self._user = user
        self._guid = player
        self._presenter = HoldemPresenter(is_removed_late=False)
        self._pending: Future[HoldemResponse] | None = None
        self._seen_version = -1
        self._sit(player)
        super().__init__(render, max_frames=MAX_HOLDEM_FRAMES)
        self._observe()
        self.publish_now()
        self._task = self._loop.create_task(self._follow())

    @classmethod
    async def join(
        cls, service: HouseGroup, user: str, game: Guid | None, render: Callable[[Guid], RenderTable]
    ) -> "HoldemSeat":
        """Take a seat in a game, or in a new one, or a place in its queue. Raises SeatRefused."""
        answer = await service.execute(Open(user, is_person=True) if game is None else Join(user, game, is_person=True))
        if isinstance(answer, RequestRefused):
            raise SeatRefused(refusal_text(answer))
        assert isinstance(answer, Created | Queued), "a user who joins gets a seat or a place in the queue"
        return cls(service, user, answer.game, answer.guid, render(answer.game))

    @classmethod
    def resume(cls, service: HouseGroup, user: str, game: Guid, render: RenderTable) -> "HoldemSeat | None":
        """Return to the seat of a user in a game; None if the user has none there."""
        found = service.views.games.get(game)
        player = None if found is None else found.shown.guids.get(user)
        return None if player is None else cls(service, user, game, player, render)

    @property
    def shared_id(self) -> Guid | None:
        """See `Seat.shared_id`: the GUID of the user in the game; None once the seat is lost or left."""
        game = None if self._is_ended else self._game_view
        return self._guid if game is not None and game.shown.guids.get(self._user) == self._guid else None

    def leave(self) -> None:
        """Give up the seat, with all chips."""
        if self.is_over:
            return
        if not self._player.is_exhausted:
            self._request(Leave(self._user, self.game, self._guid), "delete_player", lambda _: None)
        self._end(LEFT)

    def detach(self) -> None:
        """See `Seat.detach`."""
        if not self.is_over:
            self._end(LEFT)

    def close(self, reason: Text) -> None:  # noqa: ARG002 -- the seat is kept
        """Stop following the game. With a journal, the seat is there again when the server is."""
        if not self.is_over:
            self._end(SERVICE_CLOSED)

    # What the seat shows.

    @property
    def _is_waiting(self) -> bool:
        return self._pending is not None

    def _view(self) -> TableView:
        view = with_absent_people(self._presenter.table(time.time()), self._game_view)
        if self._is_away and not view.is_over:
            return replace(view, actions=(COME_BACK, GIVE_UP_SEAT), blocked=None, status=YOU_ARE_AWAY)
        return view

    @property
    def _is_away(self) -> bool:
        game = self._game_view
        return game is not None and self._guid in game.shown.away

    def _end(self, reason: Text) -> None:
        super()._end(reason)
        if asyncio.current_task() is not self._task:
            self._task.cancel()

    def _sit(self, player: Guid) -> None:
        self._guid = player
        self._player = Player(Options(self._user, player))
        self._presenter.sit(self._player)

    # Following the game.

    async def _follow(self) -> None:
        """Observe every version of the game that is durable."""
        async for _ in follow_game(self._service, self.game):
            self._observe()
        self._end(SERVICE_CLOSED if self._service.closing else GAME_GONE)

    @property
    def _game_view(self) -> GameViewCache | None:
        return self._service.views.games.get(self.game)

    def _observe(self) -> None:
        """Show the current version of the game, unless it is shown already; a pending answer comes first."""
        game = self._game_view
        if self._pending is not None or game is None or game.version == self._seen_version or self._is_ended:
            return
        self._seen_version = game.version
        shown = game.view_for(self._user)
        body = shown.body.decode().rstrip()
        data = encode_response(shown.response, b"")
        self._add_frame("house", f"GET /games/{self.game}: 200 {body}", data, CLAUSES["get_game"])
        message = game.shown.view(self._user)
        for effect in self._player.on(Received(HOUSE, message), time.time()):
            assert not (isinstance(effect, Notify) and isinstance(effect.notice, Violation)), effect
        self._presenter.received(message)
        self._changed()

    # Actions.

    def _act(self, action: str, amount: int | None) -> None:
        if self._is_away and action == COME_BACK.id:
            self._request(ComeBack(self._user, self.game, self._guid), "", lambda _: None)
        else:
            super()._act(action, amount)

    def _rejoin(self) -> None:
        self._request(Join(self._user, self.game, is_person=True), "post_players", self._on_joined)

    def _make_move(self, move: Act) -> None:
        self._player.on(Submitted(move), time.time())
        self._presenter.sent(move)
        self._request(move, "post_acts", self._on_acted)

    def _request(self, request: HoldemRequest, operation: str, handle: Callable[[HoldemResponse], None]) -> None:
        """Send a request; `handle` is called with the answer, which may come later."""
        clause = CLAUSES.get(operation, COME_BACK_CLAUSE)
        shown = str(request).removeprefix(f"{self._user} ")
        self._add_frame("you", shown, b"" if isinstance(request, ComeBack) else request_bytes(shown), clause)
        answer = self._service.submit(request)
        if isinstance(answer, Future):
            self._pending = answer
            answer.add_done_callback(partial(self._on_answered, handle, clause))
            self._changed()
        else:
            self._on_answer(handle, clause, answer)

    def _on_answered(
        self, handle: Callable[[HoldemResponse], None], clause: str, answer: Future[HoldemResponse]
    ) -> None:
        self._pending = None
        self._on_answer(handle, clause, answer.result())

    def _on_answer(self, handle: Callable[[HoldemResponse], None], clause: str, answer: HoldemResponse) -> None:
        data = (
            b""
            if clause == COME_BACK_CLAUSE
            else answer_bytes(answer, self._service.dialect, self._service.views.public_view)
        )
        self._add_frame("house", str(answer), data, answer.clause if isinstance(answer, RequestRefused) else clause)
        handle(answer)
        self._observe()
        self._changed()

    def _on_joined(self, answer: HoldemResponse) -> None:
        match answer:
            case Created(guid) | Queued(guid):
                self._sit(guid)
                self._seen_version = -1
            case RequestRefused():
                self._presenter.refused(refusal_text(answer))
            case _:
                raise AssertionError(f"found {answer}; allowed: the answers to a join")

    def _on_acted(self, answer: HoldemResponse) -> None:
        match answer:
            case ActDone(fold_reason) if fold_reason:
                self._presenter.refused(BET_REFUSED)
            case RequestRefused():
                self._presenter.refused(refusal_text(answer))
                if answer.status == HTTPStatus.SERVICE_UNAVAILABLE:
                    self._player.mark_unconfirmed()
                    self._seen_version = -1
            case _:
                pass


def refusal_text(refusal: RequestRefused) -> Text:
    """Return the reason of a refusal for people."""
    return REFUSALS.get(refusal.clause) or text("The room refuses this by the clause {clause}.", clause=refusal.clause)
