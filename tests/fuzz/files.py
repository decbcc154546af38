"""Targets: files and facts: decks, transcripts, hand histories, journals, deal records, submissions."""

import tomllib
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from msgspec.json import encode

from croupier.conformance.containment.descendants import parse_written_bytes
from croupier.conformance.containment.launch_spec import LaunchSpec
from croupier.conformance.matrix import submission
from croupier.core import http_transcript
from croupier.core.deal_record import DealGap, DealPromise, DealSeed, DealtHand, encode_entry, verify_record
from croupier.core.dealer import FAIR_ALGORITHM, dealer_factory
from croupier.core.json_transcript import parse_values
from croupier.core.session import Joined, Received
from croupier.core.transcript import parse_pieces, parse_transcript
from croupier.recording.game_records import GamesFact, StoredGame, read_games
from croupier.recording.holdem_journal import JournalStart
from croupier.recording.seeds import Seeds, decode_start
from croupier.replay.reader import read_replay
from croupier.replay.steps import replay_lines
from croupier.rooms import HOUSE_ROOMS, ROOMS
from croupier.rooms.holdem.engine.hand import Hand
from croupier.rooms.holdem.histories.acpc import from_acpc, to_acpc
from croupier.rooms.holdem.histories.ohh import to_ohh
from croupier.rooms.holdem.histories.phh import from_phh, to_phh
from croupier.rooms.holdem.settings import Settings as HoldemSettings
from croupier.rooms.holdem.table.finished_hands import FinishedHand
from croupier.rooms.holdem.table.persistence import HouseInput
from croupier.rooms.holdem.wire import Join
from croupier.rooms.oldmaid.house import House as OldMaidHouse
from croupier.rooms.oldmaid.settings import Settings as OldMaidSettings
from croupier.rooms.oldmaid.table.persistence import JournaledGames, JournalPage, OldMaidRecord
from croupier.rooms.oldmaid.wire import Draw
from croupier.rooms.oldmaid.wire import Join as OldMaidJoin
from croupier.store.records import JournalEntry
from tests.fuzz.corpus import NAMES, hands, transcript_files, transcript_lines
from tests.fuzz.target import Target, allow, text_target
from tests.http.service_fixture import house

MAX_STACKS = 3


def parse_decks(text: str) -> None:
    for room in ROOMS.values():
        for copies in (1, 2):
            allow(ValueError, room.pack.parse_decks, text, "deck file", copies)


def deck_files() -> Iterable[str]:
    return ("# a deck\n" + "\n".join(room.pack.names[:9]) + "\n\n" + room.pack.names[0] for room in ROOMS.values())


def parse_transcripts(text: str) -> None:
    allow(ValueError, parse_transcript, text, "fuzzed")
    for line in text.splitlines():
        allow(ValueError, http_transcript.parse_request, line, NAMES)
        allow(ValueError, http_transcript.parse_expected_response, line)
        allow(ValueError, parse_values, line)
        allow(ValueError, lambda line: [*parse_pieces(line)], line)


def transcript_texts() -> Iterable[str]:
    yield from transcript_files()
    yield from (line.text for room in ("holdem", "oldmaid") for line in transcript_lines(room, "<>"))


def show_replay(text: str) -> None:
    for _ in replay_lines(read_replay(text, "fuzzed")):
        pass


def game_files() -> Iterable[str]:
    for hand in hands():
        yield to_phh(hand, players=[f"p{seat}" for seat in range(len(hand.stacks))])
        yield to_ohh(hand).decode()
        yield finished(hand).json.decode()
    yield '{"room":"kuhn","table":"1-1","number":1,"time":0.0,"seat":0,"net":1,"cards":["K","Q"],"done":["BET","FLD"]}'
    yield oldmaid_record().decode()
    yield from (line.decode() for line in deal_lines())
    yield from transcript_files()


def finished(hand: Hand) -> FinishedHand:
    names = tuple(f"p{seat}" for seat in range(len(hand.stacks)))
    return FinishedHand("g1", 1, 1, names, names, hand, ())


def read_histories(text: str) -> None:
    allow(ValueError, from_phh, text)
    for line in text.splitlines():
        for count in range(2, 2 + MAX_STACKS):
            allow(ValueError, from_acpc, line, [1000] * count)


def histories() -> Iterable[str]:
    for hand in hands():
        yield to_phh(hand)
        if not hand.stakes.ante:
            yield to_acpc(hand, 0)
    yield "MATCHSTATE:1:7:r30f:|AsAh"


def run_fact(data: bytes) -> None:
    """A journal fact or snapshot: whatever the store has, a damaged journal is a ValueError."""
    allow(ValueError, replay_holdem, data)
    allow(ValueError, replay_oldmaid, data)
    allow(ValueError, lambda: house().restore(data))
    allow(ValueError, lambda: JournaledGames().restore(data))
    allow(ValueError, Hand.from_json, data)
    allow(ValueError, FinishedHand.from_json, data)
    for wanted in (Seeds(), JournalStart(settings=HoldemSettings())):
        allow(ValueError, decode_start, data, wanted)
    allow(ValueError, lambda: [*read_games(JournalEntry("kuhn", "1", 2, data, 0.0))])


def replay_holdem(data: bytes) -> None:
    house().apply(HouseInput.from_json(data))


def replay_oldmaid(data: bytes) -> None:
    JournaledGames().apply(JournalPage.from_json(data))


def oldmaid_entries() -> list[object]:
    """The journal of a game of Old Maid with some draws."""
    table = OldMaidHouse(OldMaidSettings(players=2), dealer_factory(lambda game: b"%032d" % game), record_entries=True)
    for peer, nick in enumerate(("ann", "bob"), start=1):
        table.on(Joined(peer, ("192.0.2.1", peer)), 0.0)
        table.on(Received(peer, OldMaidJoin(nick)), 0.0)
    for _ in range(4):
        for peer in (1, 2):
            table.on(Received(peer, Draw()), 1.0)
    assert table.journal_entries is not None
    return [*table.journal_entries]


def oldmaid_record() -> bytes:
    return OldMaidRecord(1, ("ann", "bob"), [], (), True).to_json()


def facts() -> Iterable[bytes]:
    yield HouseInput(1.0, Join("ann", "g1")).to_json()
    yield HouseInput(2.0, halted=True).to_json()
    yield HouseInput(3.0, opened=True, settings=HoldemSettings()).to_json()
    yield house().snapshot()
    entries = oldmaid_entries()
    yield JournalPage(entries).to_json()  # type: ignore[arg-type]  # entries of a log
    replay = JournaledGames()
    replay.apply(JournalPage(entries[:4]))  # type: ignore[arg-type]  # as above
    yield replay.snapshot()
    yield from (hand.to_json() for hand in hands())
    yield from (finished(hand).json for hand in hands())
    yield encode(Seeds(secret="ab" * 32))
    yield encode(JournalStart(seed=1, settings=HoldemSettings()))
    yield encode(GamesFact((StoredGame(1, 1, 0, 1, ("K", "Q"), ("BET", "FLD")),)))


def run_deal_record(data: bytes) -> None:
    for _ in verify_record(
        data.splitlines(), lambda room: HOUSE_ROOMS[room].pack, lambda room: HOUSE_ROOMS[room].net_check
    ):
        pass


def deal_lines() -> list[bytes]:
    entries = [
        DealPromise("kuhn", 1, FAIR_ALGORITHM, "00" * 32),
        DealtHand("kuhn", 1, 1, ["K", "Q"], 1, 0, ("BET", "FLD")),
        DealSeed("kuhn", 1, "11" * 32, "", 1),
        DealGap("kuhn", 2, 3, 2, 1),
    ]
    return [encode_entry(entry) for entry in entries]


def parse_submission(text: str) -> None:
    with suppress(RecursionError):
        submission._parse(EMPTY, tomllib.loads(text))


EMPTY = submission.Submission("a", "a", Path("a"), "")


def submissions() -> Iterable[str]:
    yield 'name = "Ann"\nid = 7\nemail = "a@b"\nbuild = ["make", "make all"]\nroom = "kuhn"\nserver = "./s {port}"\n'
    yield '[kuhn]\nserver = "./s -p {port}"\nclient = "./c {host} {port}"\n[holdem]\nserver = "java S"\n'


def run_process_files(data: bytes) -> None:
    """What the tester's helper process and the kernel report; both are ours, and ours alone can be wrong."""
    with suppress(ValueError, TypeError, KeyError, RecursionError):
        LaunchSpec.from_json(data)
    with suppress(ValueError, IndexError):
        parse_written_bytes(data)


def process_files() -> Iterable[bytes]:
    yield LaunchSpec(folder="/", words=["./s"], environment={"A": "b"}, cwd="/").to_json().encode()
    yield b"rchar: 1\nwrite_bytes: 4096\ncancelled_write_bytes: 0\n"


TARGETS = [
    text_target("decks", parse_decks, deck_files),
    text_target("transcripts", parse_transcripts, transcript_texts),
    text_target("replay", show_replay, game_files),
    text_target("histories", read_histories, histories),
    Target("journal", run_fact, facts),
    Target("deal-record", run_deal_record, lambda: [b"\n".join(deal_lines())]),
    text_target("submission", parse_submission, submissions),
    Target("process-files", run_process_files, process_files),
]
