"""Transcripts of Old Maid: their heads, refusals, players, cards and pairs."""

import re
from collections import defaultdict
from itertools import pairwise

import pytest

from croupier.core.http_transcript import NAME_PATTERN, QUOTED_PATTERN
from croupier.core.json_transcript import parse_values
from croupier.core.transcript import Transcript
from croupier.rooms.oldmaid.cards import CARD_NAMES, CARD_NUMBERS, PACK, is_pair
from croupier.rooms.oldmaid.rules import MAX_PLAYERS, MIN_PLAYERS
from tests.protocol_pages import PROTOCOL_PAGES
from tests.rooms.oldmaid.player_harness import PLAYER_TRANSCRIPTS
from tests.rooms.oldmaid.tables import TABLE_TRANSCRIPTS
from tests.sampling import looped

PAGE = PROTOCOL_PAGES["oldmaid"]
TRANSCRIPTS = PAGE.transcripts
HEADS = {
    "table": {
        *("title", "clause", "free", "players", "join_window", "stuck_seconds", "idle", "dialect", "strict", "deck"),
        "from",
    },
    "player": {"title", "clause", "side", "free", "calls", "pause", "dialect", "strict"},
}

transcripts = looped(TRANSCRIPTS, lambda transcript: transcript.name)
tables = looped(TABLE_TRANSCRIPTS, lambda transcript: transcript.name)
players = looped(PLAYER_TRANSCRIPTS, lambda transcript: transcript.name)


def messages(transcript: Transcript) -> list[tuple[str, str, dict[str, object]]]:
    """Every JSON object of a transcript, with the peer and the kind of its line."""
    return [
        (line.peer, line.kind, value)
        for line in transcript.lines
        if line.kind in "<>" and not QUOTED_PATTERN.fullmatch(line.text)
        for value in parse_values(line.text)
        if isinstance(value, dict)
    ]


def order(deck: str) -> tuple[int, ...]:
    """The cards of the deck in a transcript's head, top first."""
    (found,) = PACK.parse_decks(deck.replace(", ", "\n").replace(",\n", "\n"))
    return found


def test_a_ruling_and_the_clauses_that_cite_it_name_each_other() -> None:
    expected = re.findall(
        r"^- \*\*(P\d+)\*\* (.+?)(?=\n- |\n\n|\Z)", PAGE.text.partition("## Rulings of the")[2], re.M | re.S
    )
    assert {ruling: set(re.findall(r"\(#(oldmaid-[\d.]+)\)", text)) for ruling, text in expected} == {
        ruling: {name for name, _, text in PAGE.entries if re.search(rf"\[[^\]]*\b{ruling}\b[^\]]*\](?:\n\||$)", text)}
        for ruling, _ in expected
    }


@transcripts
def test_the_heads_of_a_transcript_are_known(transcript: Transcript) -> None:
    assert transcript.head.keys() <= HEADS[transcript.head.get("side", "table")]


@transcripts
def test_a_refusal_names_a_clause_that_exists(transcript: Transcript) -> None:
    sent = "<" if transcript in TABLE_TRANSCRIPTS else None
    expected = [
        message["message"]
        for peer, kind, message in messages(transcript)
        if message.get("result") == "error" and (kind == sent or (sent is None and kind == "<" and peer != "table"))
    ]
    found = [re.fullmatch(r"(oldmaid-\d+\.\d+): \$_", str(text)) for text in expected]
    assert all(match and match[1] in PAGE.clauses for match in found), expected


def test_there_are_enough_transcripts_of_the_table_and_of_players() -> None:
    assert len(TABLE_TRANSCRIPTS) >= 90
    assert len(PLAYER_TRANSCRIPTS) >= 60


TOLERATED = [anchor for anchor, _, expected in PAGE.entries if "NON-STRICT" in expected]


@looped(TOLERATED)
def test_every_tolerance_is_shown_and_shown_refused(clause: str) -> None:
    shown = [transcript for transcript in TRANSCRIPTS if clause in transcript.clauses]
    assert any("strict" not in transcript.head for transcript in shown)
    assert any(transcript.head.get("strict") == "yes" for transcript in shown)


@pytest.mark.parametrize("seats", range(MIN_PLAYERS, MAX_PLAYERS + 1))
def test_games_of_every_size_are_joined(seats: int) -> None:
    assert any(len(players) == seats for transcript in TABLE_TRANSCRIPTS for players in lists(transcript))


def lists(transcript: Transcript) -> list[list[list[object]]]:
    """All player lists of a transcript, in either dialect."""
    found = [message["players"] for _, kind, message in messages(transcript) if kind == "<" and "players" in message]
    return [list(players.values()) if isinstance(players, dict) else players for players in found]


@tables
def test_the_players_of_a_list_are_numbered_from_1_and_have_each_a_place_and_a_nick_of_their_own(
    transcript: Transcript,
) -> None:
    for _, kind, message in messages(transcript):
        if kind == "<" and isinstance(players := message.get("players"), dict):
            assert list(players) == [f"player{number}" for number in range(1, len(players) + 1)]
    for seats in lists(transcript):
        places = [(str(host), port) for (host, port), _ in seats]
        assert len(set(places)) == len({nick for _, nick in seats}) == len(seats)


FULL = [
    transcript for transcript in TABLE_TRANSCRIPTS if transcript.head.get("deck", "").count(",") == len(CARD_NAMES) - 1
]


def test_there_are_whole_games_of_two_three_and_eight() -> None:
    ended = {transcript.head["players"] for transcript in FULL if "oldmaid-6.8" in transcript.clauses}
    assert ended >= {"2", "3", "8"}


@looped(
    [
        transcript
        for transcript in TABLE_TRANSCRIPTS
        if "deck" in transcript.head and " / " not in transcript.head["deck"]
    ],
    lambda transcript: transcript.name,
)
def test_dealt_cards_are_those_of_the_deck(transcript: Transcript) -> None:
    deck = order(transcript.head["deck"])
    assert len(set(deck)) == len(deck)
    answers = [message["card"] for _, kind, message in messages(transcript) if kind == "<" and "card" in message]
    known = [CARD_NUMBERS[card[0], card[1]] for card in answers if isinstance(card, list)]
    assert known == [*deck, *deck][: len(known)]
    assert all(card == "$_" for card in answers[len(known) :])


@tables
def test_only_the_last_card_has_last_card(transcript: Transcript) -> None:
    results = [message["result"] for _, kind, message in messages(transcript) if kind == "<" and "card" in message]
    assert [number for number, result in enumerate(results, 1) if result == "last_card"] in ([], [len(CARD_NAMES)])


@tables
def test_discards_are_distinct_pairs(transcript: Transcript) -> None:
    thrown: list[tuple[int, int]] = []
    for (peer, kind, asked), (other, answers, answer) in pairwise(messages(transcript)):
        if (peer, kind, answers) == (other, ">", "<") and asked.get("cmd") == "discard" and answer["result"] == "ok":
            (a, b), *more = [[CARD_NUMBERS[one[0], one[1]] for one in asked["cards"]]]  # type: ignore[attr-defined]
            assert not more
            assert is_pair(a, b)
            thrown.append((min(a, b), max(a, b)))
    assert len(set(thrown)) == len(thrown)


@pytest.mark.parametrize(
    "transcript", [transcript for transcript in FULL if "oldmaid-6.8" in transcript.clauses], ids=lambda p: p.name
)
def test_whole_game_discards_all_pairs_and_leaves_one_player(transcript: Transcript) -> None:
    expected = messages(transcript)
    assert sum(message.get("cmd") == "discard" for _, _, message in expected) == len(CARD_NAMES) // 2
    assert (
        sum(message.get("cmd") == "out_of_cards" for _, _, message in expected) == int(transcript.head["players"]) - 1
    )
    standing = [message for _, kind, message in expected if kind == "<" and "in" in message]
    assert len(standing) == int(transcript.head["players"])
    assert all(message == standing[0] and len(message["in"]) == 1 for message in standing)  # type: ignore[arg-type]


@players
def test_player_joins_first_and_connects_to_listed_neighbours(transcript: Transcript) -> None:
    peer, kind, message = messages(transcript)[0]
    assert (peer, kind, message) == ("table", "<", {"cmd": "join", "nick": "me"})
    listed: defaultdict[str, set[object]] = defaultdict(set)
    for _, kind, message in messages(transcript):
        players = message.get("players") if kind == ">" else None
        for (host, port), nick in players.values() if isinstance(players, dict) else players or []:
            listed[nick].add(f"{str(host).removeprefix('::ffff:')}:{port}")
    calls = dict(re.findall(r"(\w+) (\S+?)(?:,|$)", transcript.head.get("calls", "")))
    assert all(listed[name] <= {address} for name, address in calls.items())


@players
def test_offers_have_the_size_of_the_hand(transcript: Transcript) -> None:
    """The number of cards in an offer equals the cards received minus the cards discarded or given."""
    hand = 0
    for peer, kind, message in messages(transcript):
        got = kind == ">" and "card" in message and message["card"] != ["1", "spades"]
        gave = kind == "<" and "card" in message
        thrown = kind == "<" and message.get("cmd") == "discard"
        hand += got - gave - 2 * thrown
        assert hand >= 0
        if kind == "<" and message.get("cmd") == "offer":
            assert (peer, message["num_cards"]) == (peer, hand)
        if kind == "<" and message.get("cmd") == "out_of_cards":
            assert hand == 0
        if kind == "<" and message.get("result") == "out":
            assert hand == 0


@transcripts
def test_names_are_bound_before_use(transcript: Transcript) -> None:
    bound: set[str] = set()
    for line in transcript.lines:
        if line.kind == "<":
            bound |= {*NAME_PATTERN.findall(line.text)}
        elif line.kind == ">":
            assert {*NAME_PATTERN.findall(line.text)} <= bound
