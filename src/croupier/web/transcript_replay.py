"""Transcripts as pages of the replay."""

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Final, NamedTuple

from msgspec import ValidationError, convert
from msgspec.structs import replace

from croupier.conformance.resources import transcripts
from croupier.core.http_transcript import parse_expected_response
from croupier.core.json_transcript import parse_values
from croupier.core.presentation import TableView, Text, sentences, text
from croupier.core.room import HouseRoom, Room
from croupier.core.transcript import Transcript, TranscriptLine
from croupier.replay.games import ACTION_TEXTS
from croupier.rooms import ROOMS
from croupier.rooms.holdem.presenter import HoldemPresenter
from croupier.rooms.holdem.wire import Game
from croupier.rooms.oldmaid.presenter import OldMaidPresenter
from croupier.web.frames import message_frame
from croupier.web.holdem_conversation import conversation_bytes
from croupier.web.house_replay import HouseConversation
from croupier.web.oldmaid_replay import OldMaidConversation, OldMaidTables
from croupier.web.replay_page import Moment, ReplayPage, note_between

WAITING_STEPS: Final = 3.0
"""The width of waiting on the time-line, however long it was; that of a message is 1."""

MAX_CACHED_PAGES: Final = 64
CLIENT_TEXTS: Final = {**ACTION_TEXTS, "settled": text("The game is settled: {text} for you.")}
"""What happens in the lines that are no messages, if there is one client."""

EVENT_NOTATIONS: Final = {
    "left": "* left {peer}",
    "dropped": "* dropped {peer}",
    "settled": "* settled {peer} {text}",
    "pass": "* {text} seconds pass",
    "halted": "* halted{text}",
}
"""How transcripts write these lines."""

NO_TABLE: Final = text("Only the messages of one player are shown: they are not the whole game.")


class Followed(NamedTuple):
    """What a line of a transcript shows: its text and bytes, the clause, what it means, and the table after it."""

    text: str
    data: bytes
    clause: str
    note: Text | None
    table: TableView


type Follower = HouseFollower | HoldemFollower | OldMaidFollower
"""Follows the lines of a transcript, from the table at its `start`."""


@lru_cache(MAX_CACHED_PAGES)
def transcript_page(room: str, name: str) -> ReplayPage | None:
    """Return the replay of a transcript, None if there is none of this name.

    It must not be called where an event loop runs: a transcript of hold'em is played in a loop of its own.
    """
    if room not in ROOMS:
        return None
    try:
        found = next((each for each in transcripts(room) if each.name == name), None)
    except ValueError:
        return None  # they are not installed
    return None if found is None else _replay(ROOMS[room], found)


def _replay(room: Room, transcript: Transcript) -> ReplayPage:
    follower: Follower
    if isinstance(room, HouseRoom):
        follower = HouseFollower(room, transcript)
    elif room.name == "holdem":
        follower = HoldemFollower(conversation_bytes(transcript))
    else:
        follower = OldMaidFollower(transcript)
    peers = [*dict.fromkeys(line.peer for line in transcript.lines if line.peer)]
    own = _own_party(room, transcript)
    names = {peer: "you" if isinstance(room, HouseRoom) and len(peers) == 1 else peer for peer in peers}
    parties = [*names.values(), own]
    return ReplayPage(
        room=room.name,
        title=transcript.title,
        parties=parties,
        start=follower.start,
        moments=[*_moments(transcript, follower, names, own)],
    )


def _own_party(room: Room, transcript: Transcript) -> str:
    """Return the party with which all peers of a transcript talk."""
    if isinstance(room, HouseRoom):
        return "house"
    if room.name == "holdem":
        return "server"
    return "player" if transcript.head.get("side") == "player" else "table"


def _moments(transcript: Transcript, follower: Follower, names: Mapping[str, str], own: str) -> Iterator[Moment]:
    at = 0.0
    parties = [*names.values(), own]
    for line in transcript.lines:
        at += WAITING_STEPS if line.kind == "pass" else 1.0
        followed = follower.follow(line)
        sender = names[line.peer] if line.kind in {">", "left"} else "" if line.kind == "pass" else own
        frame = message_frame(sender, followed.text, followed.data, followed.clause)
        yield Moment(frame, parties.index(sender) if sender else None, at, followed.note, followed.table)


def _event(line: TranscriptLine, table: TableView, texts: Mapping[str, Text] = ACTION_TEXTS) -> Followed:
    """Return what a line shows that is no message."""
    notation = EVENT_NOTATIONS[line.kind].format(peer=line.peer, text=line.text)
    return Followed(notation, b"", "", texts[line.kind].fill(peer=line.peer, text=line.text), table)


class HouseFollower:
    """Plays a transcript of a house game; the table is that of the client to whom the line belongs."""

    def __init__(self, room: HouseRoom, transcript: Transcript) -> None:
        self._conversation = HouseConversation(room, transcript)
        peers = {line.peer for line in transcript.lines if line.peer}
        self._event_texts = CLIENT_TEXTS if len(peers) == 1 else ACTION_TEXTS
        self._peer = next(line.peer for line in transcript.lines if line.peer)
        self.start = self._conversation.client(self._peer).table

    def follow(self, line: TranscriptLine) -> Followed:
        """Follow the next line."""
        self._peer = line.peer or self._peer
        client = self._conversation.client(self._peer)
        before = client.table
        data = self._conversation.follow(line)
        table = client.table
        change = note_between(before, table)
        if line.kind in ACTION_TEXTS:
            event = _event(line, table, self._event_texts)
            is_end = line.kind in {"left", "dropped"} and change is not None
            return event._replace(note=change if is_end else sentences(filter(None, (event.note, change))))
        return Followed(client.text or line.text, data, client.clause, change, table)


class HoldemFollower:
    """Follows a transcript of hold'em; the table is that of watchers, where a response shows it whole.

    `data` are the bytes of each line.
    """

    def __init__(self, data: Iterable[bytes]) -> None:
        self._data = iter(data)
        self._presenters: dict[str, HoldemPresenter] = {}
        self.start = self._table = TableView(title=HoldemPresenter.title, seats=())

    def follow(self, line: TranscriptLine) -> Followed:
        """Follow the next line."""
        data = next(self._data)
        if line.kind in ACTION_TEXTS:
            return _event(line, self._table)
        before = self._table
        game = _shown_game(line) if line.kind == "<" else None
        if game is not None:
            presenter = self._presenters.setdefault(game.game_id, HoldemPresenter())
            presenter.received(without_hole_cards(game))
            self._table = presenter.table(0.0)
        return Followed(line.text, data, "", note_between(before, self._table), self._table)


def without_hole_cards(game: Game) -> Game:
    """Return a game as watchers see it."""
    return replace(game, cards=replace(game.cards, hole=()))


def _shown_game(line: TranscriptLine) -> Game | None:
    """Return the game that a response shows, None if it shows none, several, or leaves something open."""
    try:
        body = parse_expected_response(line.text).body
        values = parse_values(body)
        shown = values[0] if len(values) == 1 else None
        if isinstance(shown, list) and len(shown) == 1:
            shown = shown[0]
        return convert(shown, Game)
    except (ValueError, ValidationError):
        return None


class OldMaidFollower:
    """Follows a transcript of Old Maid; the table is what everybody knows of the game that the line belongs to."""

    def __init__(self, transcript: Transcript) -> None:
        has_table = transcript.head.get("side") != "player"
        self._conversation = OldMaidConversation(transcript)
        self._tables = OldMaidTables() if has_table else None
        status = None if has_table else NO_TABLE
        self.start = self._table = TableView(title=OldMaidPresenter.title, seats=(), status=status)

    def follow(self, line: TranscriptLine) -> Followed:
        """Follow the next line."""
        data = self._conversation.follow(line)
        if self._tables is not None:
            self._table = self._tables.follow(line) or self._table
        if line.kind in ACTION_TEXTS:
            return _event(line, self._table)
        is_filled_in = line.kind == "<" and data and "$" in line.text
        return Followed(data.decode().strip() if is_filled_in else line.text, data, "", None, self._table)
