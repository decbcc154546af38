"""Transcripts of Old Maid: the bytes of their messages, and what everybody knows of the game."""

from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any

from croupier.core.http_transcript import substitute
from croupier.core.json_transcript import JSON_LINE_PATTERN, encode_sent, match_received, parse_values
from croupier.core.presentation import SeatStatus, TableView
from croupier.core.transcript import Transcript, TranscriptLine
from croupier.replay.games import oldmaid_table
from croupier.replay.transcript_table import table_harness
from croupier.rooms.oldmaid.wire import JSON_ENCODER


class OldMaidConversation:
    """The bytes of a transcript: our table plays its part in memory.

    A transcript of a player determines the bytes of its lines, except of those that leave something to the player.
    """

    def __init__(self, transcript: Transcript) -> None:
        self._harness = None if transcript.head.get("side") == "player" else table_harness(transcript)
        self._bound: Mapping[str, str] = {}

    def follow(self, line: TranscriptLine) -> bytes:
        """Play a line, and return its bytes, which are empty if it is no message or leaves something open."""
        if self._harness is None:
            return _determined_bytes(line)
        match line.kind:
            case ">":
                data = encode_sent(line.text, self._bound)
                self._harness.send(line.peer, data)
                return data
            case "<":
                message = self._harness.receive(line.peer, JSON_LINE_PATTERN)["message"]
                self._bound = match_received(line.text, message, self._bound)
                return message + b"\n"
        self._harness.perform(line)
        return b""


class OldMaidTables:
    """The games of a transcript of the table, by the players who sit in them."""

    def __init__(self) -> None:
        self._seats: dict[str, _Seat] = {}
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
            case "left" | "dropped" if line.peer in self._seats:
                self._seats[line.peer].set_state("away")
            case _:
                pass
        seat = self._seats.get(line.peer)
        return None if seat is None else seat.game.table

    def _answer(self, peer: str, request: Any, response: Any) -> None:
        """Follow the response of the table to a request."""
        match request, response:
            case {"cmd": "join", "nick": str(nick)}, {"result": "ok", "players": dict(players)}:
                nicks = _nicks(players)
                if nick in nicks:
                    self._seats[peer] = _Seat(self._game(nicks, nick), nicks.index(nick))
            case _ if peer not in self._seats:
                pass
            case {"cmd": "draw"}, {"card": _}:
                self._seats[peer].game.cards_drawn += 1
            case {"cmd": "discard"}, {"result": "ok"}:
                self._seats[peer].discard()
            case {"cmd": "out_of_cards"}, {"result": "ok"}:
                self._seats[peer].set_state("out")
            case _:
                pass

    def _game(self, nicks: Sequence[str], nick: str) -> "_Game":
        """Return the game of these players in which nobody has this seat yet."""
        for seat in self._seats.values():
            taken = {other.number for other in self._seats.values() if other.game is seat.game}
            if seat.game.nicks == nicks and nicks.index(nick) not in taken:
                return seat.game
        return _Game(nicks)


class _Game:
    """A game: its players, the pairs that they have laid down, and who is out or away."""

    def __init__(self, nicks: Sequence[str]) -> None:
        self.nicks = nicks
        self.cards_drawn = 0
        self.pair_counts = [0] * len(nicks)
        self.states: dict[int, SeatStatus] = {}

    @property
    def table(self) -> TableView:
        return oldmaid_table(self.nicks, self.pair_counts, self.states, self.cards_drawn)


class _Seat:
    """A seat in a game."""

    def __init__(self, game: _Game, number: int) -> None:
        self.game = game
        self.number = number

    def discard(self) -> None:
        self.game.pair_counts[self.number] += 1

    def set_state(self, state: SeatStatus) -> None:
        self.game.states.setdefault(self.number, state)


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
