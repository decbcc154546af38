"""Transcripts of Old Maid: the bytes of their messages, and what everybody knows of the game."""

from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any, Final

from croupier.core.http_transcript import substitute
from croupier.core.json_transcript import JSON_LINE_PATTERN, encode_sent, match_received, parse_values
from croupier.core.presentation import TableView, text
from croupier.core.rules import Seat
from croupier.core.transcript import Transcript, TranscriptLine
from croupier.replay.games import ACTION_TEXTS, OldMaidGame
from croupier.replay.transcript_house import Harness
from croupier.replay.transcript_table import table_harness
from croupier.rooms.oldmaid.presenter import OldMaidPresenter
from croupier.rooms.oldmaid.table.persistence import ActionKind
from croupier.rooms.oldmaid.wire import JSON_ENCODER
from croupier.web.replay_page import Followed, follow_event

NO_TABLE: Final = text("Only the messages of one player are shown: they are not the whole game.")


class OldMaidFollower:
    """Follows a transcript of Old Maid; the table is what everybody knows of the game that the line belongs to.

    Our table plays its part in memory. A transcript of a player determines the bytes of its lines, except of those that
    leave something to the player.
    """

    def __init__(self, transcript: Transcript) -> None:
        self._harness = None if transcript.head.get("side") == "player" else table_harness(transcript)
        self._bound: Mapping[str, str] = {}
        self._tables = OldMaidTables()
        status = None if self._harness is not None else NO_TABLE
        self.start = self._table = TableView(title=OldMaidPresenter.title, seats=(), status=status)

    def follow(self, line: TranscriptLine) -> Followed:
        """Follow the next line."""
        if self._harness is None:
            data = _determined_bytes(line)
        else:
            data = self._play(line, self._harness)
            self._table = self._tables.follow(line) or self._table
        if line.kind in ACTION_TEXTS:
            return follow_event(line, self._table)
        is_filled_in = line.kind == "<" and data and "$" in line.text
        return Followed(data.decode().strip() if is_filled_in else line.text, data, "", None, self._table)

    def _play(self, line: TranscriptLine, harness: Harness[Any, Any]) -> bytes:
        """Play a line, and return its bytes, which are empty if it is no message."""
        match line.kind:
            case ">":
                data = encode_sent(line.text, self._bound)
                harness.send(line.peer, data)
                return data
            case "<":
                message = harness.receive(line.peer, JSON_LINE_PATTERN)["message"]
                self._bound = match_received(line.text, message, self._bound)
                return message + b"\n"
        harness.perform(line)
        return b""


class OldMaidTables:
    """The games of a transcript of the table, and the seats that its players have in them."""

    def __init__(self) -> None:
        self._seats: dict[str, tuple[OldMaidGame, Seat]] = {}
        self._requests: dict[str, deque[Any]] = {}

    def follow(self, line: TranscriptLine) -> TableView | None:
        """Follow the next line; return the game of its player, None if there is none."""
        requests = self._requests.setdefault(line.peer, deque())
        match line.kind:
            case ">":
                requests += _values(line.text)
            case "<":
                for response in _values(line.text):
                    if requests:
                        self._answer(line.peer, requests.popleft(), response)
            case "left" | "dropped":
                self._act(line.peer, "gone")
            case _:
                pass
        return self._seats[line.peer][0].table if line.peer in self._seats else None

    def _answer(self, peer: str, request: Any, response: Any) -> None:
        """Follow the response of the table to a request."""
        match request, response:
            case {"cmd": "join", "nick": str(nick)}, {"result": "ok", "players": dict(players)}:
                nicks = _nicks(players)
                if nick in nicks:
                    self._seats[peer] = self._game(nicks, nicks.index(nick)), nicks.index(nick)
            case {"cmd": "draw"}, {"card": _}:
                self._act(peer, "drew")
            case {"cmd": "discard"}, {"result": "ok"}:
                self._act(peer, "threw")
            case {"cmd": "out_of_cards"}, {"result": "ok"}:
                self._act(peer, "out")
            case _:
                pass

    def _act(self, peer: str, action: ActionKind) -> None:
        """Note an action of a player, if they sit in a game."""
        if peer in self._seats:
            game, seat = self._seats[peer]
            game.follow(action, seat)

    def _game(self, nicks: Sequence[str], seat: Seat) -> OldMaidGame:
        """Return the game of these players in which nobody has this seat yet."""
        games = [game for game, _ in self._seats.values() if game.nicks == nicks]
        free = (game for game in games if (game, seat) not in self._seats.values())
        return next(free, None) or OldMaidGame(nicks)


def _determined_bytes(line: TranscriptLine) -> bytes:
    """Return the bytes of a message to or from our player, which are empty if the line leaves something open."""
    try:
        if line.kind == ">":
            return encode_sent(line.text, {})
        if line.kind == "<":
            (value,) = parse_values(substitute(line.text, {}))
            return JSON_ENCODER.encode(value) + b"\n"
    except ValueError:
        pass  # there is a name in it
    return b""


def _values(text: str) -> list[Any]:
    """Return the JSON values of a line, none if it is something else."""
    try:
        return parse_values(text)
    except ValueError:
        return []


def _nicks(players: dict[str, Any]) -> list[str]:
    """Return the nicks of a list of players, without those that the transcript leaves open."""
    return [str(entry[1]) for entry in players.values() if isinstance(entry, list) and len(entry) == 2]
