"""Replays: reading every format, and the interactive screen."""

import json
import re
from collections.abc import Sequence
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from croupier.core.linear import seat_line
from croupier.core.presentation import PotView
from croupier.core.transcript import parse_transcript
from croupier.replay.holdem import hand_replay
from croupier.replay.reader import read_replay
from croupier.replay.steps import ReplayStep, replay_lines
from croupier.rooms.holdem.engine.hand import Hand
from croupier.rooms.holdem.engine.stakes import Stakes
from croupier.rooms.holdem.histories import to_ohh, to_phh
from croupier.rooms.holdem.table.finished_hands import FinishedHand
from croupier.rooms.oldmaid.table.persistence import OldMaidRecord
from croupier.tui.replay_screen import ReplayScreen
from tests.rooms.holdem.random_hands import begin, end
from tests.tui.fake_terminal import terminal

ROOT = Path(__file__).parents[2]
NAMES = ("ann", "bob", "cid")


def hand() -> Hand:
    """Ann is all in for more than the others have; bob calls, cid folds."""
    found = Hand([300, 100, 80], button=0, stakes=Stakes(5, 10, ante=1))
    found.deal([0, 1, 2, 3, 4, 5])
    found.bet(299)
    found.bet(94)
    found.fold()
    for cards in ([20, 29, 38], [44], [50]):
        found.deal(cards)
    return found


def step_texts(text: str, name: str = "it") -> list[str]:
    return [step.text for step in read_replay(text, name).steps]


def seat_lines(step: ReplayStep) -> list[str]:
    assert step.table is not None
    return [str(seat_line(seat)) for seat in step.table.seats]


def test_a_hand_is_replayed_from_blinds_to_pots() -> None:
    steps = hand_replay(hand(), NAMES, "a hand").steps
    assert [step.text for step in steps[:6]] == [
        "Each player posts an ante of 1; bob posts the small blind, 5, cid the big blind, 10.",
        "Each player is dealt two cards.",
        "ann raises to 299, all-in.",
        "bob calls 94, all-in.",
        "cid folds.",
        "ann takes back an uncalled bet of 200.",
    ]
    assert steps[-1].text == "bob wins the pot, 211: pair of twos."
    assert seat_lines(steps[2])[:2] == [
        "ann: the 2 of hearts, the 3 of diamonds, dealer, 0 chips, 299 chips bet, all in",
        "bob: the 2 of clubs, the 2 of spades, 94 chips, 5 chips bet, to act",
    ]
    assert steps[2].table is not None
    assert steps[2].table.pots == (PotView(317),)


def test_a_player_leaves_an_unfinished_hand() -> None:
    found = Hand([100, 100, 100])
    found.deal(range(6))
    found.bet(20)
    found.leave(2)
    steps = hand_replay(found, NAMES, "a hand").steps
    assert [step.text for step in steps[2:]] == ["ann calls 20.", "cid leaves the table."]
    assert seat_lines(steps[-1])[1].endswith(", to act")


@pytest.mark.parametrize("seed", range(30))
def test_the_last_step_shows_the_final_stacks(seed: int) -> None:
    luck = Random(seed)
    whole = end(begin(luck), luck, leaving=0.03)
    names = [f"player{seat}" for seat in range(len(whole.stacks))]
    steps = hand_replay(whole, names, "a hand").steps
    for chips, name, line in zip(whole.stacks, names, seat_lines(steps[-1]), strict=True):
        assert line.startswith(f"{name}: ")
        assert str(chips) in line.split()
    gains = [step.text for step in steps if " wins " in step.text]
    assert len(gains) == len(whole.awards)


def test_a_phh_file_is_replayed_with_its_names() -> None:
    text = to_phh(hand(), players=NAMES, table="t", number=3)
    assert step_texts(text) == [step.text for step in hand_replay(hand(), NAMES, "").steps]
    nameless = re.sub(r"^players = \[.*?\]$", "", text, flags=re.MULTILINE | re.DOTALL)
    assert "p1 posts the small blind, 5, p2 the big blind, 10." in step_texts(nameless)[0]


def test_open_hand_history_is_replayed() -> None:
    steps = read_replay(to_ohh(hand(), players=NAMES, table="t", number=3).decode(), "it").steps
    assert steps[0].text == "Preflop."
    assert {"ann raises by adding 299, all-in.", "bob calls 94, all-in.", "cid folds."} <= {step.text for step in steps}
    assert [step.text for step in steps[-2:]] == ["ann takes back an uncalled bet of 200.", "bob wins 211."]
    assert steps[-1].table is not None
    assert str(steps[-1].table.status) == "Pot: 0"
    assert [line.split()[-2] for line in seat_lines(steps[-1])] == ["200", "211", "69"]


def test_stored_hands_and_games_are_replayed() -> None:
    saved_hand = FinishedHand("game", 3, 9, NAMES, ("a", "b", "c"), hand(), ()).json.decode()
    assert read_replay(saved_hand, "it").title == "holdem/game/3"
    record = OldMaidRecord(4, ("ann", "bob"), False, ("bob", "ann"), [("drew", 0, "3 spades"), ("gone", 1)])
    assert step_texts(record.to_json().decode()) == [
        "ann, bob sit down.",
        "ann draws 3 spades.",
        "bob is gone.",
        "The game is over: ann has lost.",
    ]
    game = {
        "room": "kuhn",
        "table": "run-1",
        "number": 2,
        "time": 5.5,
        "seat": 0,
        "net": -2,
        "cards": ["Q", "K"],
        "done": ["BET", "CAL"],
    }
    assert step_texts(json.dumps(game)) == [
        "Cards, in the order of the deal: Q K.",
        "The client bets a coin.",
        "The house calls.",
        "The client loses 2.",
    ]
    many = f"{record.to_json().decode()}\n{json.dumps(game)}\n"
    assert step_texts(many)[0] == "oldmaid/table/4:"
    assert step_texts(many)[-1] == "The client loses 2."


def test_a_deal_record_is_replayed() -> None:
    lines = [
        {"deal": "promise", "room": "kuhn", "table": 1, "algorithm": "x", "commitment": "ab" * 32},
        {"deal": "hand", "room": "kuhn", "table": 1, "hand": 1, "cards": ["Q", "K"], "net": -2},
        {"deal": "hand", "room": "holdem", "table": 2, "hand": 1, "cards": [], "net": [5, -5]},
        {"deal": "seed", "room": "kuhn", "table": 1, "server_seed": "cd" * 32, "client_seed": "", "hands": 1},
        {"deal": "missing", "room": "kuhn", "first": 2, "last": 4, "tables": 3},
    ]
    assert step_texts("\n".join(map(json.dumps, lines))) == [
        "kuhn table 1: the dealer commits to abababababababab...",
        "kuhn table 1, hand 1: Q K; -2",
        "holdem table 2, hand 1: no card is shown; +5 -5",
        "kuhn table 1: the seed was cdcdcdcdcdcdcdcd...",
        "kuhn: 3 tables and 0 lines of other tables are missing",
    ]


@pytest.mark.parametrize(
    ("room", "cards", "done", "texts"),
    [
        ("kuhn", "QK", "CHK BET FLD", ["The client checks.", "The house bets a coin.", "The client folds."]),
        ("sevenhalf", ["7o", "cc"], "BET_5 DRAW PASS", ["bets 5.", "draws a card.", "passes."]),
        ("blackjack", ["ASP", "2SP"], "BET_5 H S", ["bets 5.", "draws a card.", "stands."]),
        ("blackjack", ["ASP", "2SP"], "BET_5 SRD XYZ", ["bets 5.", "surrenders.", "XYZ."]),
    ],
)
def test_the_moves_of_a_game_against_a_house_are_told_in_words(
    room: str, cards: Sequence[str], done: str, texts: list[str]
) -> None:
    moves = [move.replace("_", " ") for move in done.split()]
    game = {"room": room, "table": "t", "number": 1, "time": 0.0, "seat": 0, "net": 1, "cards": [*cards], "done": moves}
    told = step_texts(json.dumps(game))[1:-1]
    assert [text.endswith(end) for text, end in zip(told, texts, strict=True)] == [True] * len(texts)


@pytest.mark.parametrize("path", sorted((ROOT / "transcripts").glob("*/*.txt"))[::23], ids=lambda path: path.stem)
def test_a_transcript_is_replayed_line_by_line(path: Path) -> None:
    _, *texts = step_texts(path.read_text(), path.name)
    assert any(" sends " in line or " receives " in line or "disconnects" in line for line in texts)
    assert len(texts) == len(parse_transcript(path.read_text(), path.stem).lines)


@given(
    st.text()
    | st.sampled_from(["{}", "[]", "{", '{"ohh": 1}', '{"course": 1}', '{"guids": []}', "variant = 'NT'", "clause: x"])
)
def test_other_texts_are_rejected(text: str) -> None:
    with pytest.raises(ValueError, match=r"allowed: a PHH file|found|missing"):
        read_replay(text, "it")


def test_keys_move_through_a_replay() -> None:
    replay = read_replay(to_phh(hand(), players=NAMES), "it")
    screen, last = ReplayScreen(replay), len(replay.steps) - 1
    for key, at in ((" ", 1), ("right", 2), ("left", 1), ("end", last), (" ", last), ("home", 0), ("p", 0)):
        assert screen.press(key)
        assert screen.position == at, repr(key)
    assert screen.press("x")
    assert not screen.press("q")
    assert not ReplayScreen(replay).press("c-d")


def test_printed_replays_end_with_the_table() -> None:
    lines = [*replay_lines(read_replay(to_phh(hand(), players=NAMES), "a hand"))]
    assert lines[0] == "a hand"
    assert lines[3] == "   3  ann raises to 299, all-in."
    assert lines[-1].startswith("On the table: ")


def test_a_replay_in_the_terminal(tmp_path: Path) -> None:
    file = tmp_path / "hand.phh"
    file.write_text(to_phh(hand(), players=NAMES))
    with terminal("replay", str(file)) as seat:
        seat.sees("Each player posts an ante of 1")
        seat.plays(
            (" ", "Step 2 of"), ("\x1b[C", "ann raises to 299, all-in."), ("\x1b[D", "Step 2 of"), ("G", "wins the pot")
        )
        seat.press("q")
        seat.leaves()
