"""Tests of resuming an interrupted house from a snapshot or from a journal."""

import re
from collections.abc import Iterator
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.json import decode, encode

from croupier.core.session import Commit
from croupier.rooms.holdem.house import House
from croupier.rooms.holdem.settings import Settings
from croupier.rooms.holdem.table.persistence import HouseInput
from croupier.rooms.holdem.wire import ACTION_BET, ACTION_FOLD, Act, HoldemRequest, Join, Leave, Open
from tests.rooms.holdem.house_fixture import HouseFixture
from tests.sampling import extended

USERS = ("ann", "bob", "cat", "dan", "eve")
SETTINGS: tuple[dict[str, Any], ...] = (
    {"seats": 3, "stack": 1000},
    {"seats": 2, "stack": 64, "ante": 3, "history": 2},
    {"seats": 4, "stack": 100, "straddle": 40, "pause_seconds": 2.0, "dialect": "hspe-go"},
)


def request(luck: Random, house: House) -> HoldemRequest:
    """Return a random request, mostly a sensible one."""
    user = luck.choice(USERS)
    tables = house.games()
    table = luck.choice(tables)
    match luck.choice(("join", "act", "act", "act", "act", "leave", "open")):
        case "join":
            return Join(user, table.guid)
        case "leave" if luck.random() < 0.3:
            return Leave(user, table.guid, house.guid_of(user))
        case "open" if len(tables) < 4:
            return Open(user)
    turn = table.view().turn
    names = {player.player_id: player.handle for player in table.view().table}
    user = names.get(turn.player_id, user)
    chips = luck.choice([turn.bet_to_player - turn.bet_so_far, 0, 40, 100, 1000])
    return Act(user, table.guid, house.guid_of(user), ACTION_FOLD if luck.random() < 0.2 else ACTION_BET, chips)


def random_inputs(seed: int, fixture: HouseFixture, steps: int = 150) -> Iterator[HouseInput]:
    """Yield the inputs of a random session one by one; the caller applies each to the house."""
    luck, now = Random(seed), 0.0
    for user in USERS[:2]:
        yield HouseInput(now, Join(user, fixture.table().guid))
    for _ in range(steps):
        deadline = fixture.house.deadline
        if deadline is not None and luck.random() < 0.05:
            now = max(now, deadline)
            yield HouseInput(now)
        else:
            now += luck.choice([0.0, 0.01, 1.0])
            yield HouseInput(now, request(luck, fixture.house))


def all_views(house: House) -> list[tuple[Any, ...]]:
    """Return the views of all users and the public."""
    return [(table.guid, table.version, *(table.view(user) for user in (None, *USERS))) for table in house.games()]


@pytest.mark.parametrize("seed", extended(range(12), 3))
@pytest.mark.parametrize("options", SETTINGS, ids=["three", "two", "four"])
def test_a_restored_house_continues_like_the_original(options: dict[str, Any], seed: int) -> None:
    fixture, luck = HouseFixture(seed=seed, **options), Random(seed)
    before = fixture.house
    fixture.restart()
    for house_input in random_inputs(seed, fixture):
        assert fixture.house.apply(house_input) == before.apply(house_input)
        assert all_views(fixture.house) == all_views(before)
        if luck.random() < 0.1:
            fixture.restart()
    assert fixture.house.snapshot() == before.snapshot()
    assert max(len(table.hands) for table in before.games()) > 1


@pytest.mark.parametrize("options", SETTINGS, ids=["three", "two", "four"])
def test_replaying_a_journal_restores_the_house(options: dict[str, Any]) -> None:
    fixture, journal, snapshot = HouseFixture(seed=7, **options), list[bytes](), b""
    for number, house_input in enumerate(random_inputs(7, fixture)):
        journal.append(house_input.to_json())
        fixture.house.apply(house_input)
        if number == 90:
            snapshot = fixture.house.snapshot()
    for start, facts in ((b"", journal), (snapshot, journal[91:])):
        again = HouseFixture(seed=7, **options).house
        if start:
            again.restore(start)
        for fact in facts:
            again.apply(HouseInput.from_json(fact))
        assert again.snapshot() == fixture.house.snapshot()
        assert all_views(again) == all_views(fixture.house)


def test_a_resumed_turn_has_its_full_time_and_the_same_cards() -> None:
    fixture = HouseFixture(turn_seconds=15.0)
    fixture.join("ann", "bob")
    fixture.now = 14.0
    before = fixture.view("ann"), fixture.view("bob"), fixture.turn()
    fixture.restart()
    fixture.now = 100.0
    fixture.facts += fixture.house.apply(HouseInput(fixture.now, opened=True))
    assert fixture.house.deadline == 115.0
    after = fixture.view("ann"), fixture.view("bob"), fixture.turn()
    assert after[2] == before[2]
    assert [game.cards for game in after[:2]] == [game.cards for game in before[:2]]
    assert after[0].turn.expiry != before[0].turn.expiry
    fixture.play(f"{fixture.turn()} 10")
    fixture.wait(14.9)
    assert len(fixture.chips()) == 2
    fixture.wait(0.2)
    assert len(fixture.chips()) == 1


def test_a_resumed_hand_repeats_its_commitment() -> None:
    """The commitment may not have been published before the interruption."""
    fixture = HouseFixture()
    fixture.join("ann", "bob")
    committed = [fact for fact in fixture.facts if isinstance(fact, Commit)]
    fixture.restart()
    again = fixture.house.apply(HouseInput(5.0, opened=True))
    assert [fact for fact in again if isinstance(fact, Commit)] == committed
    assert len(committed) == 1


def test_a_closed_house_can_be_reopened() -> None:
    fixture = HouseFixture()
    fixture.join("ann")
    fixture.close()
    fixture.restart()
    fixture.house.apply(HouseInput(5.0, opened=True))
    fixture.now = 5.0
    fixture.join("bob")
    assert fixture.turn()


def test_a_hand_due_at_closing_begins_on_reopening() -> None:
    fixture = HouseFixture()
    fixture.join("ann", "bob")
    fixture.close()
    fixture.play(f"{fixture.turn()} fold")
    assert not fixture.turn()
    fixture.restart()
    fixture.house.apply(HouseInput(9.0, opened=True))
    assert fixture.turn()
    assert fixture.house.deadline == 9.0 + fixture.settings.turn_seconds


@pytest.mark.parametrize(
    "other", [{"blinds": "5/10"}, {"stack": 999}, {"seats": 3}, {"ante": 1}, {"straddle": 40}, {"dialect": "hspe-go"}]
)
def test_tables_do_not_resume_with_other_stakes(other: dict[str, Any]) -> None:
    ((name, value),) = other.items()
    message = f"found {name} {value} for saved tables; allowed: {getattr(Settings(), name)}, as saved"
    with pytest.raises(ValueError, match=re.escape(message)):
        Settings(**other).check_compatible(Settings())
    Settings(turn_seconds=3.0, history=1).check_compatible(Settings())


@pytest.mark.parametrize("data", [b"", b"{}", b"[]", b'{"form": 1}', b'{"form": "1"}', b"\xff"])
def test_malformed_snapshots_are_refused(data: bytes) -> None:
    with pytest.raises(ValueError, match=r"^found a malformed snapshot of a hold'em house"):
        HouseFixture().house.restore(data)


def test_snapshots_of_another_format_are_refused() -> None:
    snapshot = decode(HouseFixture().house.snapshot())
    with pytest.raises(ValueError, match=r"^found a snapshot in format 2; allowed: format 1$"):
        HouseFixture().house.restore(encode(snapshot | {"form": 2}))


@given(st.binary() | st.sampled_from([b'{"now": 1, "said": {"type": "bet"}}', b'{"said": null}', b'{"now": "1"}']))
def test_malformed_inputs_are_refused(data: bytes) -> None:
    with pytest.raises(ValueError, match=r"^found a malformed input of a hold'em house"):
        HouseInput.from_json(data)
