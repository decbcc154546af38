"""Transcripts of house games, played in memory: every message with its bytes, its clause, and the client's table."""

import re
from collections.abc import Mapping
from typing import Any, Final

from croupier.core.client_session import ClientSession
from croupier.core.errors import Violation
from croupier.core.presentation import Presenter, TableView, sentences
from croupier.core.referee import HOUSE
from croupier.core.room import HouseRoom
from croupier.core.session import Joined, Left, Malformed, Notify, Received, TimedOut
from croupier.core.transcript import (
    Transcript,
    TranscriptLine,
    convert_head,
    encode_line,
    house_settings,
    is_fault_of_house,
    is_strict,
)
from croupier.replay.games import ACTION_TEXTS
from croupier.replay.transcript_house import Harness, compile_pattern, make_harness
from croupier.web.house_seat import house_fault
from croupier.web.replay_page import CLIENT_TEXTS, Followed, follow_event, note_between
from croupier.web.seats import LEFT, TABLE_CLOSED

LINE_GROUP: Final = "line"
"""The group of a pattern that matches the bytes of the whole line."""


class HouseFollower:
    """Plays a transcript with our house, or with the faulty one that the transcript describes.

    The table is that of the client to whom a line belongs.
    """

    def __init__(self, room: HouseRoom, transcript: Transcript) -> None:
        self._room = room
        self._transcript = transcript
        self._harness: Harness[Any, Any] | None = None
        if is_playable_by_house(transcript):
            self._harness = make_harness(room, transcript)
        self._clients: dict[str, ObservedClient] = {}
        self._bound: Mapping[str, bytes] = {}
        peers = [line.peer for line in transcript.lines if line.peer]
        self._event_texts = CLIENT_TEXTS if len({*peers}) == 1 else ACTION_TEXTS
        self._peer = peers[0]
        self.start = self._client(self._peer).table

    def follow(self, line: TranscriptLine) -> Followed:
        """Follow the next line."""
        self._peer = line.peer or self._peer
        client = self._client(self._peer)
        before = client.table
        data = self._play(line)
        table = client.table
        change = note_between(before, table)
        if line.kind in ACTION_TEXTS:
            event = follow_event(line, table, self._event_texts)
            is_end = line.kind in {"left", "dropped"} and change is not None
            return event._replace(note=change if is_end else sentences(filter(None, (event.note, change))))
        return Followed(client.text or line.text, data, client.clause, change, table)

    def _client(self, peer: str) -> "ObservedClient":
        """Return a client, which connects when it is first named."""
        if peer not in self._clients:
            self._clients[peer] = ObservedClient(self._room, self._transcript)
        return self._clients[peer]

    def _play(self, line: TranscriptLine) -> bytes:
        """Play a line, and return its bytes, which are empty if it is no message."""
        match line.kind:
            case ">":
                data = encode_line(line.text)
                if self._harness is not None:
                    self._harness.send(line.peer, data)
                self._client(line.peer).sends(data)
                return data
            case "<":
                data = self._receive(line)
                self._client(line.peer).receives(data)
                return data
        if self._harness is not None:
            self._harness.perform(line)
        match line.kind:
            case "left":
                self._client(line.peer).leaves()
            case "dropped":
                self._client(line.peer).is_dropped()
            case "pass":
                for client in self._clients.values():
                    client.waits(float(line.text))
        return b""

    def _receive(self, line: TranscriptLine) -> bytes:
        """Return the bytes of a line that a client receives: what our house has sent, or what the transcript says."""
        if self._harness is None:
            return encode_line(line.text)
        pattern = compile_pattern(line.text, self._room.patterns, self._bound).pattern
        whole = re.compile(b"(?P<%b>%b)" % (LINE_GROUP.encode(), pattern), re.DOTALL)
        groups = self._harness.receive(line.peer, whole)
        self._bound = {**self._bound, **{name: data for name, data in groups.items() if name != LINE_GROUP}}
        return groups[LINE_GROUP]


class ObservedClient:
    """A client of a transcript, which may break the protocol, and what its person sees.

    `text` and `clause` describe the messages of the last line: "" if they are no messages, or follow no clause.
    """

    def __init__(self, room: HouseRoom, transcript: Transcript) -> None:
        settings, options = house_settings(room, transcript), convert_head(room.options, transcript.head)
        player = room.player(options, strict=is_strict(transcript))
        assert isinstance(player, ClientSession), "the clients of all houses are"
        self._player: ClientSession[Any, Any] = player
        self._player.on(Joined(HOUSE), 0.0)
        self._presenter: Presenter[Any, Any, Any] = room.load_extra("presenter")()
        self._presenter.sit(self._player, room.initial_purse(settings))
        self._format = room.message_formatter(settings)
        self._sent = room.codec(is_strict(transcript), settings)
        self._received = room.codec(is_strict(transcript), options)
        self._now = 0.0
        self._has_ended = False
        self.text = ""
        self.clause = ""

    @property
    def table(self) -> TableView:
        """The table as the person sees it."""
        return self._presenter.table(self._now)

    def sends(self, data: bytes) -> None:
        """Follow bytes that the client sends."""
        messages = [*self._sent.feed(data)]
        clauses = [self._follow_sent(message) for message in messages]
        self._describe(messages, clauses)

    def receives(self, data: bytes) -> None:
        """Follow bytes that the client receives."""
        messages = [*self._received.feed(data)]
        clauses = [self._follow_received(message) for message in messages]
        self._describe(messages, clauses)

    def leaves(self) -> None:
        """End the conversation: the client disconnects."""
        self._presenter.ended(LEFT)

    def is_dropped(self) -> None:
        """End the conversation: the house disconnects."""
        self._follow(Left(HOUSE))
        if not self._has_ended:
            self._presenter.ended(TABLE_CLOSED)

    def waits(self, seconds: float) -> None:
        """Let time pass, in which the house may have owed a reply."""
        self._now += seconds
        if self._player.deadline is not None and self._player.deadline <= self._now:
            self._follow(TimedOut())

    def _follow_sent(self, message: Any) -> str:
        """Follow a message of the client, and return its clause."""
        verdicts = self._player.observe_sent(message, self._now)
        if not isinstance(message, Violation):
            self._presenter.sent(message)
        return verdicts[0].violation.clause if verdicts else self._player.clause or ""

    def _follow_received(self, message: Any) -> str:
        """Follow a message of the house, and return its clause."""
        owed = self._player.clause if self._player.is_waiting else None
        if isinstance(message, Violation):
            self._follow(Malformed(HOUSE, message))
            return message.clause
        broken = self._follow(Received(HOUSE, message))
        if broken is None:
            self._presenter.received(message)
            return owed or self._player.clause or ""
        return broken.clause

    def _follow(self, event: Any) -> Violation | None:
        """Let the session handle an event; return the violation of the house that it finds."""
        for effect in self._player.on(event, self._now):
            if isinstance(effect, Notify) and isinstance(effect.notice, Violation):
                self._has_ended = True
                self._presenter.ended(house_fault(effect.notice))
                return effect.notice
        return None

    def _describe(self, messages: list[Any], clauses: list[str]) -> None:
        is_parsed = messages and not any(isinstance(message, Violation) for message in messages)
        self.text = " · ".join(map(self._format, messages)) if is_parsed else ""
        self.clause = next(filter(None, reversed(clauses)), "")


def is_playable_by_house(transcript: Transcript) -> bool:
    """Whether our house can play its part: it breaks no clause, and never closes on its own initiative."""
    return not is_fault_of_house(transcript) and transcript.head.get("side") != "player"
