"""Hands that were played are in the store: they can be listed, shown, and taken elsewhere."""

import json
from pathlib import Path

import pokerkit
import pytest

from croupier.rooms.holdem.histories import from_phh
from tests.cli.test_serve_holdem import Parlour, parlour
from tests.processes import croupier


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A store, and the game in it: two hands, the second one shown down, and a third that is not over."""
    kept = tmp_path_factory.mktemp("hands") / "kept.db"
    with parlour("--store", kept) as found:
        found.seat("ann", "bob")
        found.act(0)
        for _ in range(4):
            call(found)
            call(found)
        game = found.game
        assert found.serving.stop() == 0
    return kept, game


def call(found: Parlour) -> None:
    """Whose turn it is checks or calls."""
    turn = found.see()["turn"]
    found.act(1, turn["bet_to_player"] - turn["bet_so_far"])


def test_hands_are_listed_the_latest_first(played: tuple[Path, str]) -> None:
    kept, game = played
    lines = croupier("hands", "list", "--json", "--store", kept).stdout.splitlines()
    hands = [json.loads(line) for line in lines]
    assert [(hand["table"], hand["number"]) for hand in hands] == [(game, 2), (game, 1)]
    assert [sorted(hand["players"]) for hand in hands] == [["ann", "bob"]] * 2
    assert sorted(hands[1]["summary"].split(", ")) == ["ann -10", "bob +10"]
    told = croupier("hands", "list", "--store", kept).stdout
    assert told.index(f"{game}/2") < told.index(f"{game}/1")
    assert len(croupier("hands", "list", "--json", "--limit", 1, "--store", kept).stdout.splitlines()) == 1
    assert croupier("hands", "list", "--json", "--player", "cid", "--store", kept).stdout == ""


def test_a_hand_is_shown_with_all_cards_in_any_form(played: tuple[Path, str]) -> None:
    kept, game = played
    text = croupier("hands", "show", f"{game}/2", "--store", kept).stdout
    hand = from_phh(text)
    assert len(hand.board) == 5
    assert "?" not in text
    (state,) = [[*pokerkit.HandHistory.loads(text)][-1]]
    assert state.stacks == [*hand.stacks] or sorted(state.stacks) == sorted(hand.stacks)
    ohh = json.loads(croupier("hands", "show", f"{game}/2", "--format", "ohh", "--store", kept).stdout)["ohh"]
    assert [player["name"] for player in ohh["players"]]
    kept_hand = json.loads(croupier("hands", "show", f"{game}/2", "--format", "jsonl", "--store", kept).stdout)
    assert (kept_hand["table"], kept_hand["number"]) == (game, 2)


def test_hands_are_exported_into_a_new_folder(played: tuple[Path, str], tmp_path: Path) -> None:
    kept, game = played
    folder = tmp_path / "out"
    done = croupier("hands", "export", folder, "--store", kept)
    assert done.stdout == f"2 hands of {kept} are in {folder}\n"
    assert sorted(path.name for path in folder.iterdir()) == [f"{game}-1.phh", f"{game}-2.phh"]
    again = croupier("hands", "export", folder, "--store", kept)
    assert again.returncode == 1
    assert "File exists" in again.stderr


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["show", "x"], "found the hand 'x'; allowed: TABLE/NUMBER, ROOM/TABLE/NUMBER"),
        (["show", "x/9"], "found no hand 'x/9'; allowed: one of `croupier hands list`"),
        (["show", "x/1.5"], "found the hand 'x/1.5'; allowed: TABLE/NUMBER, ROOM/TABLE/NUMBER"),
        (["list", "--limit", "0"], "found 0 hands; allowed: 1 or more"),
    ],
)
def test_what_is_not_there_is_not_shown(played: tuple[Path, str], arguments: list[str], told: str) -> None:
    done = croupier("hands", *arguments, "--store", played[0])
    assert done.returncode == 1
    assert done.stderr == f"croupier: {told}\n"


def test_the_books_with_hands_are_in_order(played: tuple[Path, str]) -> None:
    done = croupier("db", "check", "--store", played[0])
    assert done.stdout == f"{played[0]}: 0 faults\n"
