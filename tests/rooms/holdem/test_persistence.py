"""A house that is interrupted goes on where it was, from what was kept of it or from what it has heard."""

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
from tests.rooms.holdem.house_fixture import Parlour

USERS = ("ann", "bob", "cat", "dan", "eve")
HOW: tuple[dict[str, Any], ...] = (
    {"seats": 3, "stack": 1000},
    {"seats": 2, "stack": 64, "ante": 3, "history": 2},
    {"seats": 4, "stack": 100, "straddle": 40, "pause_seconds": 2.0, "dialect": "hspe-go"},
)


def request(luck: Random, house: House) -> HoldemRequest:
    """What somebody may ask, mostly something that makes sense."""
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


def evening(seed: int, parlour: Parlour, steps: int = 150) -> Iterator[HouseInput]:
    """What the house of a parlour hears on a random evening, step by step; whoever asks for it lets the house hear."""
    luck, now = Random(seed), 0.0
    for user in USERS[:2]:
        yield HouseInput(now, Join(user, parlour.table().guid))
    for _ in range(steps):
        alarm = parlour.house.deadline
        if alarm is not None and luck.random() < 0.05:
            now = max(now, alarm)
            yield HouseInput(now)
        else:
            now += luck.choice([0.0, 0.01, 1.0])
            yield HouseInput(now, request(luck, parlour.house))


def seen(house: House) -> list[tuple[Any, ...]]:
    """What everybody can see."""
    return [(table.guid, table.version, *(table.view(user) for user in (None, *USERS))) for table in house.games()]


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("how", HOW, ids=["three", "two", "four"])
def test_a_restored_house_continues_like_the_original(how: dict[str, Any], seed: int) -> None:
    parlour, luck = Parlour(seed=seed, **how), Random(seed)
    before = parlour.house
    parlour.interrupt()
    for heard in evening(seed, parlour):
        assert parlour.house.apply(heard) == before.apply(heard)
        assert seen(parlour.house) == seen(before)
        if luck.random() < 0.1:
            parlour.interrupt()
    assert parlour.house.snapshot() == before.snapshot()
    assert max(len(table.hands) for table in before.games()) > 1


@pytest.mark.parametrize("how", HOW, ids=["three", "two", "four"])
def test_replaying_a_journal_restores_the_house(how: dict[str, Any]) -> None:
    parlour, journal, kept = Parlour(seed=7, **how), list[bytes](), b""
    for number, heard in enumerate(evening(7, parlour)):
        journal.append(heard.to_json())
        parlour.house.apply(heard)
        if number == 90:
            kept = parlour.house.snapshot()
    for start, facts in ((b"", journal), (kept, journal[91:])):
        again = Parlour(seed=7, **how).house
        if start:
            again.restore(start)
        for fact in facts:
            again.apply(HouseInput.from_json(fact))
        assert again.snapshot() == parlour.house.snapshot()
        assert seen(again) == seen(parlour.house)


def test_a_resumed_turn_has_its_full_time_and_the_same_cards() -> None:
    parlour = Parlour(turn_seconds=15.0)
    parlour.join("ann", "bob")
    parlour.now = 14.0
    before = parlour.view("ann"), parlour.view("bob"), parlour.turn()
    parlour.interrupt()
    parlour.now = 100.0
    parlour.facts += parlour.house.apply(HouseInput(parlour.now, opened=True))
    assert parlour.house.deadline == 115.0
    after = parlour.view("ann"), parlour.view("bob"), parlour.turn()
    assert after[2] == before[2]
    assert [game.cards for game in after[:2]] == [game.cards for game in before[:2]]
    assert after[0].turn.expiry != before[0].turn.expiry
    parlour.play(f"{parlour.turn()} 10")
    parlour.wait(14.9)
    assert len(parlour.chips()) == 2
    parlour.wait(0.2)
    assert len(parlour.chips()) == 1


def test_a_resumed_hand_repeats_its_commitment() -> None:
    """Nobody may have been told before the house was interrupted."""
    parlour = Parlour()
    parlour.join("ann", "bob")
    promised = [fact for fact in parlour.facts if isinstance(fact, Commit)]
    parlour.interrupt()
    again = parlour.house.apply(HouseInput(5.0, opened=True))
    assert [fact for fact in again if isinstance(fact, Commit)] == promised
    assert len(promised) == 1


def test_a_closed_house_can_be_reopened() -> None:
    parlour = Parlour()
    parlour.join("ann")
    parlour.halt()
    parlour.interrupt()
    parlour.house.apply(HouseInput(5.0, opened=True))
    parlour.now = 5.0
    parlour.join("bob")
    assert parlour.turn()


def test_a_hand_due_at_closing_begins_on_reopening() -> None:
    parlour = Parlour()
    parlour.join("ann", "bob")
    parlour.halt()
    parlour.play(f"{parlour.turn()} fold")
    assert not parlour.turn()
    parlour.interrupt()
    parlour.house.apply(HouseInput(9.0, opened=True))
    assert parlour.turn()
    assert parlour.house.deadline == 9.0 + parlour.settings.turn_seconds


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
        Parlour().house.restore(data)


def test_snapshots_of_another_format_are_refused() -> None:
    kept = decode(Parlour().house.snapshot())
    with pytest.raises(ValueError, match=r"^found a snapshot in format 2; allowed: format 1$"):
        Parlour().house.restore(encode(kept | {"form": 2}))


@given(st.binary() | st.sampled_from([b'{"now": 1, "said": {"type": "bet"}}', b'{"said": null}', b'{"now": "1"}']))
def test_malformed_inputs_are_refused(data: bytes) -> None:
    with pytest.raises(ValueError, match=r"^found a malformed input of a hold'em house"):
        HouseInput.from_json(data)
