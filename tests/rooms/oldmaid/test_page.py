"""The page of Old Maid and its transcripts: every clause is shown, and what is shown can have happened."""

import re
from collections import defaultdict
from itertools import pairwise
from pathlib import Path

import pytest

from croupier.core.http_transcript import NAME_PATTERN, QUOTED_PATTERN
from croupier.core.json_transcript import parse_values
from croupier.core.transcript import Transcript, parse_transcript
from croupier.rooms.oldmaid.cards import CARD_NAMES, CARD_NUMBERS, PACK, is_pair
from croupier.rooms.oldmaid.rules import MAX_PLAYERS, MIN_PLAYERS

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "protocols" / "oldmaid.md").read_text()
CLAUSES = re.findall(
    r"^\((oldmaid-\d+\.\d+)\)=\n\*\*(oldmaid-\d+\.\d+)\*\* (.+?)(?=\n\n|\Z)", PAGE, re.MULTILINE | re.DOTALL
)
ANCHORS = [anchor for anchor, _, _ in CLAUSES]
UNSHOWN = re.findall(
    r"^- \*\*(oldmaid-\d+\.\d+)\*\*", PAGE.partition("## Clauses that no conversation shows")[2], re.MULTILINE
)
SOURCES = sorted((ROOT / "src" / "croupier").glob("**/*.py"))
PAPERS = [
    parse_transcript(path.read_text(), f"oldmaid/{path.stem}")
    for path in sorted((ROOT / "transcripts" / "oldmaid").glob("*.txt"))
]
TABLE = [paper for paper in PAPERS if paper.head.get("side") != "player"]
PLAYER = [paper for paper in PAPERS if paper.head.get("side") == "player"]
HEADS = {
    "table": {
        *("title", "clause", "players", "join_window", "stuck_seconds", "idle", "dialect", "strict", "deck", "from"),
    },
    "player": {"title", "clause", "side", "calls", "pause", "dialect", "strict"},
}

papers = pytest.mark.parametrize("paper", PAPERS, ids=lambda paper: paper.name)
tables = pytest.mark.parametrize("paper", TABLE, ids=lambda paper: paper.name)
players = pytest.mark.parametrize("paper", PLAYER, ids=lambda paper: paper.name)


def messages(paper: Transcript) -> list[tuple[str, str, dict[str, object]]]:
    """Every JSON object that is said or heard, with the peer and the kind of its line."""
    return [
        (line.peer, line.kind, value)
        for line in paper.lines
        if line.kind in "<>" and not QUOTED_PATTERN.fullmatch(line.text)
        for value in parse_values(line.text)
        if isinstance(value, dict)
    ]


def order(deck: str) -> tuple[int, ...]:
    """The cards of a head's deck, top first."""
    (found,) = PACK.parse_decks(deck.replace(", ", "\n").replace(",\n", "\n"))
    return found


def test_the_page_has_clauses_each_once_and_under_its_own_name() -> None:
    assert len(ANCHORS) >= 90
    assert len(set(ANCHORS)) == len(ANCHORS) == len(re.findall(r"^\(oldmaid-", PAGE, re.MULTILINE))
    assert all(anchor == shown for anchor, shown, _ in CLAUSES)


def test_clauses_are_numbered_without_a_gap() -> None:
    numbers = [tuple(map(int, name.removeprefix("oldmaid-").split("."))) for name in ANCHORS]
    assert numbers == [
        (section, number)
        for section in range(1, 1 + max(section for section, _ in numbers))
        for number in range(1, 1 + sum(section == other for other, _ in numbers))
    ]


def test_every_clause_names_its_source() -> None:
    source = re.compile(r"\[[^\]]*(§\d|[A-Z]\d)[^\]]*\]$")
    assert [name for name, _, told in CLAUSES if not source.search(told.partition("\n|")[0].strip())] == []


def test_every_ruling_of_the_project_is_cited_and_every_cited_one_is_there() -> None:
    rulings = re.findall(r"^- \*\*(P\d+)\*\*", PAGE.partition("## Rulings of the project")[2], re.MULTILINE)
    cited = {
        found for _, _, told in CLAUSES for found in re.findall(r"\bP\d+\b", told.partition("\n|")[0].rsplit("[", 1)[1])
    }
    assert rulings == [f"P{number}" for number in range(1, len(rulings) + 1)]
    assert cited == set(rulings)


def test_a_ruling_and_the_clauses_that_cite_it_name_each_other() -> None:
    told = re.findall(r"^- \*\*(P\d+)\*\* (.+?)(?=\n- |\n\n|\Z)", PAGE.partition("## Rulings of the")[2], re.M | re.S)
    assert {ruling: set(re.findall(r"\(#(oldmaid-[\d.]+)\)", text)) for ruling, text in told} == {
        ruling: {name for name, _, text in CLAUSES if re.search(rf"\[[^\]]*\b{ruling}\b[^\]]*\](?:\n\||$)", text)}
        for ruling, _ in told
    }


def test_links_on_the_page_lead_to_clauses() -> None:
    linked = {*re.findall(r"\(#(oldmaid-[\d.]+)\)", PAGE)}
    assert linked
    assert linked <= set(ANCHORS)


def test_the_code_names_clauses_that_exist() -> None:
    named = {source.name: {*re.findall(r"\boldmaid-\d+\.\d+", source.read_text())} for source in SOURCES}
    assert {name: found - set(ANCHORS) for name, found in named.items() if found - set(ANCHORS)} == {}


@pytest.mark.parametrize("clause", ANCHORS)
def test_a_clause_is_shown_by_a_transcript_or_listed_as_one_that_cannot_be(clause: str) -> None:
    assert any(clause in paper.clauses for paper in PAPERS) != (clause in UNSHOWN)


def test_the_clauses_listed_as_not_shown_exist() -> None:
    assert UNSHOWN
    assert set(UNSHOWN) <= set(ANCHORS)


@papers
def test_a_transcript_names_clauses_that_exist_and_heads_that_are_known(paper: Transcript) -> None:
    assert set(paper.clauses) <= set(ANCHORS)
    assert len(set(paper.clauses)) == len(paper.clauses) > 0
    assert paper.head.keys() <= HEADS[paper.head.get("side", "table")]


@papers
def test_a_refusal_names_a_clause_that_exists(paper: Transcript) -> None:
    sent = "<" if paper in TABLE else None
    told = [
        message["message"]
        for peer, kind, message in messages(paper)
        if message.get("result") == "error" and (kind == sent or (sent is None and kind == "<" and peer != "table"))
    ]
    found = [re.fullmatch(r"(oldmaid-\d+\.\d+): \$_", str(text)) for text in told]
    assert all(match and match[1] in ANCHORS for match in found), told


def test_there_are_transcripts_enough_for_both_sides_and_no_two_tell_the_same() -> None:
    assert len(TABLE) >= 90
    assert len(PLAYER) >= 60
    assert len({paper.title for paper in PAPERS}) == len(PAPERS)
    told = {
        (paper.lines, *(paper.head.get(name) for name in ("deck", "dialect", "strict", "from"))) for paper in PAPERS
    }
    assert len(told) == len(PAPERS)


TOLERATED = [anchor for anchor, _, told in CLAUSES if "NON-STRICT" in told]


@pytest.mark.parametrize("clause", TOLERATED)
def test_every_tolerance_is_shown_and_shown_refused(clause: str) -> None:
    shown = [paper for paper in PAPERS if clause in paper.clauses]
    assert any("strict" not in paper.head for paper in shown)
    assert any(paper.head.get("strict") == "yes" for paper in shown)


@pytest.mark.parametrize("seats", range(MIN_PLAYERS, MAX_PLAYERS + 1))
def test_games_of_every_size_are_joined(seats: int) -> None:
    assert any(len(players) == seats for paper in TABLE for players in lists(paper))


def lists(paper: Transcript) -> list[list[list[object]]]:
    """All lists of players that are heard in a transcript, in whichever form."""
    found = [message["players"] for _, kind, message in messages(paper) if kind == "<" and "players" in message]
    return [list(players.values()) if isinstance(players, dict) else players for players in found]


@tables
def test_the_players_of_a_list_are_numbered_from_1_and_have_each_a_place_and_a_nick_of_their_own(
    paper: Transcript,
) -> None:
    for _, kind, message in messages(paper):
        if kind == "<" and isinstance(players := message.get("players"), dict):
            assert list(players) == [f"player{number}" for number in range(1, len(players) + 1)]
    for seats in lists(paper):
        places = [(str(host), port) for (host, port), _ in seats]
        assert len(set(places)) == len({nick for _, nick in seats}) == len(seats)


FULL = [paper for paper in TABLE if paper.head.get("deck", "").count(",") == len(CARD_NAMES) - 1]


def test_there_are_whole_games_of_two_three_and_eight() -> None:
    ended = {paper.head["players"] for paper in FULL if "oldmaid-6.8" in paper.clauses}
    assert ended >= {"2", "3", "8"}


@pytest.mark.parametrize(
    "paper",
    [paper for paper in TABLE if "deck" in paper.head and " / " not in paper.head["deck"]],
    ids=lambda p: p.name,
)
def test_the_cards_that_are_heard_are_those_of_the_deck(paper: Transcript) -> None:
    deck = order(paper.head["deck"])
    assert len(set(deck)) == len(deck)
    heard = [message["card"] for _, kind, message in messages(paper) if kind == "<" and "card" in message]
    known = [CARD_NUMBERS[card[0], card[1]] for card in heard if isinstance(card, list)]
    assert known == [*deck, *deck][: len(known)]
    assert all(card == "$_" for card in heard[len(known) :])


@tables
def test_the_last_card_and_no_other_is_told_as_such(paper: Transcript) -> None:
    results = [message["result"] for _, kind, message in messages(paper) if kind == "<" and "card" in message]
    assert [number for number, result in enumerate(results, 1) if result == "last_card"] in ([], [len(CARD_NAMES)])


@tables
def test_what_is_thrown_away_are_pairs_and_each_once(paper: Transcript) -> None:
    thrown: list[tuple[int, int]] = []
    for (peer, kind, asked), (other, heard, answer) in pairwise(messages(paper)):
        if (peer, kind, heard) == (other, ">", "<") and asked.get("cmd") == "discard" and answer["result"] == "ok":
            (a, b), *more = [[CARD_NUMBERS[one[0], one[1]] for one in asked["cards"]]]  # type: ignore[attr-defined]
            assert not more
            assert is_pair(a, b)
            thrown.append((min(a, b), max(a, b)))
    assert len(set(thrown)) == len(thrown)


@pytest.mark.parametrize("paper", [paper for paper in FULL if "oldmaid-6.8" in paper.clauses], ids=lambda p: p.name)
def test_in_a_whole_game_every_pair_is_thrown_away_and_one_player_is_left(paper: Transcript) -> None:
    told = messages(paper)
    assert sum(message.get("cmd") == "discard" for _, _, message in told) == len(CARD_NAMES) // 2
    assert sum(message.get("cmd") == "out_of_cards" for _, _, message in told) == int(paper.head["players"]) - 1
    standing = [message for _, kind, message in told if kind == "<" and "in" in message]
    assert len(standing) == int(paper.head["players"])
    assert all(message == standing[0] and len(message["in"]) == 1 for message in standing)  # type: ignore[arg-type]


@players
def test_a_player_joins_first_and_is_called_where_the_list_has_his_neighbours(paper: Transcript) -> None:
    peer, kind, message = messages(paper)[0]
    assert (peer, kind, message) == ("table", "<", {"cmd": "join", "nick": "me"})
    listed: defaultdict[str, set[object]] = defaultdict(set)
    for _, kind, message in messages(paper):
        players = message.get("players") if kind == ">" else None
        for (host, port), nick in players.values() if isinstance(players, dict) else players or []:
            listed[nick].add(f"{str(host).removeprefix('::ffff:')}:{port}")
    calls = dict(re.findall(r"(\w+) (\S+?)(?:,|$)", paper.head.get("calls", "")))
    assert all(listed[name] <= {address} for name, address in calls.items())


@players
def test_a_player_holds_what_he_offers(paper: Transcript) -> None:
    """The number of cards in his offers is that of the cards that he has got less those that he has lost."""
    hand = 0
    for peer, kind, message in messages(paper):
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


@papers
def test_names_are_bound_before_they_are_said(paper: Transcript) -> None:
    bound: set[str] = set()
    for line in paper.lines:
        if line.kind == "<":
            bound |= {*NAME_PATTERN.findall(line.text)}
        elif line.kind == ">":
            assert {*NAME_PATTERN.findall(line.text)} <= bound
