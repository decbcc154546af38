"""The pieces of the hold'em terminal: what is told of a table, how it is drawn, and what time it is there."""

import asyncio
import re
from collections.abc import Iterator
from random import Random
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console

from croupier.clients.holdem_api import ApiRequest, ApiResponse, ConnectionFailed
from croupier.core.errors import IllegalMove
from croupier.rooms.holdem.wire import NO_TURN, Cards, Game, Player, Pot, Turn
from croupier.tui.holdem.hand_history import MAX_LINES, MAX_NAME_COLUMNS, LiveHandHistory, display_name, is_running
from croupier.tui.holdem.interaction import _submit_move, clock_offset
from croupier.tui.holdem.scene import seconds_left
from croupier.tui.holdem.table_view import HoldemTableView
from tests.rooms.holdem.house_fixture import HouseFixture, duel, trio

USERS = ("ann", "bob", "cat", "dan")


def told(parlour: HouseFixture, *lines: str, user: str | None = "ann", skipping: bool = False) -> list[str]:
    """What a chronicle tells of lines of acts: it sees every state, or only the last one of each line."""
    chronicle = LiveHandHistory(user or "")
    chronicle.update(parlour.view(user))
    chronicle.lines.clear()
    found: list[str] = []
    for line in lines:
        acts = [line] if skipping else line.split(", ")
        for act in acts:
            parlour.play(act)
            chronicle.update(parlour.view(user))
            found += chronicle.lines
            chronicle.lines.clear()
    return found


# What is told.


def test_every_act_and_every_street_is_told() -> None:
    assert told(duel(), "ann 10, bob 40, ann 40, bob 0, ann 60, bob 60, bob 0, ann 0, bob 20, ann 20") == [
        "You call 10",
        "bob raises to 60",
        "You call 40",
        "Flop: K♠ Q♥ 9♣",
        "bob checks",
        "You bet 60",
        "bob calls 60",
        "Turn: 8♦",
        "bob checks",
        "You check",
        "River: 4♥",
        "bob bets 20",
        "You win, +140",
        "Hand 2: the button is bob",
    ]


def test_an_all_in_is_told_as_one() -> None:
    assert told(duel(stack=100), "ann 90")[0] == "You raise to 100, all-in"
    assert told(duel(stack=100), "ann 90", user="bob")[0] == "ann raises to 100, all-in"


def test_acts_that_were_not_seen_one_by_one_are_told_from_what_they_left() -> None:
    assert told(duel(), "ann 10, bob 0, bob 20", skipping=True) == [
        "You call 10",
        "bob checks",
        "Flop: K♠ Q♥ 9♣",
        "bob bets 20",
    ]
    assert told(trio(), "bob fold, cat 10, ann 0, cat 0", skipping=True) == [
        "bob folds",
        "cat calls 10",
        "You check",
        *told(trio(), "bob fold, cat 10, ann 0, cat 0")[3:],
    ]


def test_a_fold_that_ends_the_hand_is_told_although_it_is_never_shown() -> None:
    assert told(duel(), "ann fold")[:2] == ["You fold", "bob wins, +10"]
    assert told(duel(), "ann 10, bob 0, bob 0, ann 20, bob fold")[-3:-1] == ["bob folds", "You win, +20"]


def test_a_call_that_ends_the_hand_is_no_fold() -> None:
    assert "bob folds" not in told(duel(stack=100), "ann 90, bob 80")


def test_where_the_end_is_shown_it_is_told_once() -> None:
    parlour = duel(pause_seconds=5.0)
    chronicle = LiveHandHistory("ann")
    for act in ("ann 10", "bob 20", "ann fold"):
        chronicle.update(parlour.view("ann"))
        parlour.play(act)
    chronicle.update(parlour.view("ann"))
    parlour.wait(5.0)
    chronicle.update(parlour.view("ann"))
    assert [*chronicle.lines][-3:] == ["You fold", "bob wins, +20", "Hand 2: the button is bob"]


def test_who_comes_and_who_goes_is_told() -> None:
    parlour = HouseFixture(turn_seconds=10.0)
    chronicle = LiveHandHistory("ann")
    seen = []
    for user in ("ann", "bob", "cat"):
        parlour.join(user)
        chronicle.update(parlour.view("ann"))
    parlour.play("ann 10, bob 0")
    chronicle.update(parlour.view("ann"))
    parlour.leave("bob")
    chronicle.update(parlour.view("ann"))
    seen += chronicle.lines
    assert seen[:2] == ["bob sits down", "Hand 1: the button is yours"]
    assert seen[-4:-1] == ["You win, +20", "bob leaves", "cat sits down"]


def test_who_leaves_during_a_hand_is_told_at_once() -> None:
    parlour = trio()
    chronicle = LiveHandHistory("ann")
    chronicle.update(parlour.view("ann"))
    parlour.leave("cat")
    chronicle.update(parlour.view("ann"))
    assert [*chronicle.lines] == ["Hand 1: the button is bob", "cat leaves"]
    assert (chronicle.button, chronicle.big_blind) == (parlour.house.guid_of("bob"), parlour.house.guid_of("ann"))


def test_a_hand_that_is_first_seen_on_the_flop_begins_there() -> None:
    parlour = duel(decks="AS 2C AH 2D KS QH 9C 8D 4H", ante=5)
    parlour.play("ann 10, bob 0")
    chronicle = LiveHandHistory("bob")
    chronicle.update(parlour.view("bob"))
    assert [*chronicle.lines] == ["Hand 1: the button is ann", "Flop: K♠ Q♥ 9♣"]
    assert set(chronicle.stacks_before.values()) == {10_000}
    parlour.play("bob 20, ann fold")
    chronicle.update(parlour.view("bob"))
    assert "You win, +25" in chronicle.lines


def test_cards_of_winners_that_are_none_are_not_told() -> None:
    parlour = duel(dialect="hspe-go")
    chronicle = LiveHandHistory("ann")
    chronicle.update(parlour.view("ann"))
    parlour.play("ann 9990, bob 9980")
    end = msgspec.json.decode(msgspec.json.encode(parlour.view("ann")))
    end["last_winners"][0]["Hand"][0] = "\x1b[2J"
    chronicle.update(msgspec.convert(end, Game))
    assert "You win, +10000" in chronicle.lines


def evening(
    parlour: HouseFixture, luck: Random, user: str | None, acts: int = 40
) -> Iterator[tuple[Game, list[tuple[int, ...]]]]:
    """What a user sees of random acts, state by state, and what the hands have come to that have ended since then."""
    ended = len(parlour.nets)
    yield parlour.view(user), []
    for _ in range(acts):
        who = parlour.turn()
        if not who:
            if parlour.house.deadline is None:
                return
            parlour.wait(1.0)
        else:
            turn, us = parlour.view().turn, parlour.chips()[who]
            call = min(turn.bet_to_player - turn.bet_so_far, us)
            most = luck.choice([call, call, call, call + turn.minimum_raise, call + 3 * turn.minimum_raise, us])
            parlour.fold(who) if luck.random() < 0.2 else parlour.bet(who, min(us, most))
        yield parlour.view(user), parlour.nets[ended:]
        ended = len(parlour.nets)


@pytest.mark.parametrize("rules", [{}, {"ante": 3}, {"straddle": 40}, {"pause_seconds": 1.0}, {"dialect": "hspe-go"}])
@given(st.integers(0, 10**6), st.sampled_from(["", "ann"]))
def test_whoever_wins_is_told_with_what_he_wins(rules: dict[str, Any], seed: int, own: str) -> None:
    parlour = HouseFixture(seed=seed, stack=2000, **rules)
    parlour.join(*USERS)
    chronicle = LiveHandHistory(own)
    playing = False
    for game, nets in evening(parlour, Random(seed), own or None):
        chronicle.lines.clear()
        chronicle.update(game)
        wins = [int(found[1]) for line in chronicle.lines if (found := re.search(r" wins?\b.*, \+(\d+)$", line))]
        if len(nets) == playing or not nets:  # else hands were played of which nothing was seen
            assert sorted(wins) == sorted(net for hand in nets for net in hand if net > 0)
        playing = is_running(game)


@given(st.integers(0, 10**6), st.sampled_from([None, "ann"]), st.floats(0.1, 0.9))
def test_whatever_is_missed_the_rest_is_told(seed: int, user: str | None, missed: float) -> None:
    parlour = HouseFixture(seed=seed, stack=500, ante=1)
    parlour.join(*USERS)
    luck = Random(seed)
    chronicle = LiveHandHistory(user or "")
    for game, _ in evening(parlour, luck, user):
        if luck.random() > missed:
            chronicle.update(game)
    assert len(chronicle.lines) <= MAX_LINES
    names = "|".join(("You", *USERS))
    assert all(re.match(f"({names}) [a-z]+|(Flop|Turn|River): |Hand ", line) for line in chronicle.lines)


# How it is drawn.


def drawn(game: Game, width: int = 72, height: int = 40, user: str = "") -> str:
    """A picture of a game, without any colour."""
    chronicle = LiveHandHistory()
    chronicle.update(game)
    console = Console(width=width, height=height, force_terminal=True, color_system="truecolor")
    with console.capture() as capture:
        console.print(HoldemTableView(game, user, chronicle))
    shown = capture.get()
    assert not re.search(r"\x1b\[[0-9;]*[34]\d", shown), "nobody should need colours"
    return re.sub(r"\x1b\[[0-9;]*m", "", shown)


@settings(max_examples=30)
@given(st.integers(0, 10**4), st.integers(28, 100), st.integers(10, 60))
def test_a_table_of_ten_fits_any_terminal(seed: int, width: int, height: int) -> None:
    parlour = HouseFixture(seed=seed)
    parlour.join(*(f"選手-player-{number}" for number in range(10)))
    for game, _ in evening(parlour, Random(seed), "選手-player-0", acts=4):
        picture = drawn(game, width, height)
        assert max(map(cell_len, picture.splitlines())) <= width
        assert ("╭" in picture) == (width >= 60 and height >= 22 + len(game.table) and bool(game.cards.hole))


def shown(*players: Player, pots: tuple[Pot, ...], turn: str = "b") -> Game:
    """A game that somebody has drawn up."""
    return Game("g", players, Turn(turn, 0, 60, 40, "2030-01-01T00:00:10.5Z"), Cards(("AS", "KD")), pots)


def test_side_pots_are_told_with_those_who_can_win_them() -> None:
    game = shown(
        Player("a", "ann", "called", 0, 60, True),
        Player("b", "bob", "active", 500, 20, False),
        Player("c", "cat", "called", 400, 100, False),
        Player("d", "dan", "folded", 900, 80, False),
        pots=(Pot(200, ("a", "b", "c", "d")), Pot(60, ("b", "c", "d"))),
    )
    picture = drawn(game)
    assert "Main pot: 200   Side pot: 60 (bob, cat)" in picture
    rows = [line.split() for line in picture.splitlines()[1:5]]
    assert rows == [
        ["ann", "SB", "0", "60", "all-in"],
        [">", "bob", "BB", "500", "20", "acts"],
        ["cat", "400", "100", "called"],
        ["dan", "D", "900", "80", "folded"],
    ]


def test_what_others_call_themselves_is_shown_and_not_obeyed() -> None:
    rogue = Player("a", "\x1b[2J\r[red]" + "x" * 99, "active", 1, 2, True)
    nameless = Player("b", "", "active", 1, 2, False)
    picture = drawn(shown(rogue, nameless, pots=()))
    assert "?[2J?[red]xxxxx~" in picture
    assert len(display_name(rogue)) == MAX_NAME_COLUMNS
    assert picture.splitlines()[2].split()[:2] == [">", "b"]


def test_cards_of_no_hand_are_shown_without_one() -> None:
    game = shown(Player("b", "bob", "active", 1, 2, True), pots=())
    odd = msgspec.structs.replace(game, cards=Cards(("AS", "AS", "KD"), ("AS", "2C", "3C")))
    assert "Cards: A♠ A♠ K♦" in drawn(odd, width=40)


# What time it is.


@pytest.mark.parametrize(
    ("expiry", "left"),
    [
        ("2030-01-01T00:00:10.500Z", 11),
        ("2030-01-01T01:00:10+01:00", 10),
        ("2029-12-31 20:00:10.021303798 -0400 EDT", 11),
        ("2030-01-01 00:00:10", 10),
        ("2029-12-31T23:59:59Z", 0),
        (NO_TURN.expiry, 0),
        ("soon", None),
        ("", None),
        ("9999-12-31 23:59:59 -9900 X", None),
    ],
)
def test_the_time_that_is_left_is_read_in_every_form(expiry: str, left: int | None) -> None:
    assert seconds_left(expiry, 1893456000.0) == left


@pytest.mark.parametrize(
    ("reply", "ahead"),
    [
        (ApiResponse(200, {"date": "Tue, 01 Jan 2030 00:01:00 GMT"}, b"[]"), 60.5),
        (ApiResponse(200, {"date": "Mon, 31 Dec 2029 23:59:00 GMT"}, b"[]"), -59.5),
        (ApiResponse(200, {"date": "Tue, 01 Jan 2030 00:00:01 GMT"}, b"[]"), 0.0),
        (ApiResponse(200, {"date": "tomorrow"}, b"[]"), 0.0),
        (ApiResponse(200, {}, b"[]"), 0.0),
        (ConnectionFailed("gone"), 0.0),
    ],
)
def test_a_clock_that_is_wrong_is_corrected_by_the_servers(reply: ApiResponse | ConnectionFailed, ahead: float) -> None:
    errand = clock_offset(lambda: 1893456000.0)
    assert next(errand) == ApiRequest("GET", "/games/")
    with pytest.raises(StopIteration) as end:
        errand.send(reply)
    assert end.value.value == ahead


def test_an_act_that_has_become_too_late_is_explained() -> None:
    class Late:
        async def say(self, move: object) -> str:
            raise IllegalMove(move, ())

    assert asyncio.run(_submit_move(Late(), 20)) == "20 is not allowed here; allowed: nothing"
