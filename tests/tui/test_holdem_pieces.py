"""Parts of the hold'em terminal interface: hand history, table view, and the server's clock."""

import asyncio
import re
from collections.abc import Iterator
from random import Random
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console

from croupier.clients.holdem_api import ApiRequest, ApiResponse, ConnectionFailed
from croupier.core.errors import IllegalMove
from croupier.rooms.holdem.player import Options
from croupier.rooms.holdem.wire import NO_TURN, Cards, Game, Player, Pot, Turn
from croupier.tui.holdem.clock import clock_offset, seconds_left
from croupier.tui.holdem.hand_history import MAX_LINES, MAX_NAME_COLUMNS, LiveHandHistory, display_name, is_running
from croupier.tui.holdem.scene import HoldemScene
from croupier.tui.holdem.table_view import HoldemTableView
from tests.clients.independent_server import IndependentServer
from tests.rooms.holdem.house_fixture import HouseFixture, duel, trio
from tests.sampling import example_count

USERS = ("ann", "bob", "cat", "dan")


def history_lines(parlour: HouseFixture, *lines: str, user: str | None = "ann", skipping: bool = False) -> list[str]:
    """Return the history of lines of acts. The history sees every state, or with `skipping` one state per line."""
    history = LiveHandHistory(user or "")
    history.update(parlour.view(user))
    history.lines.clear()
    found: list[str] = []
    for line in lines:
        acts = [line] if skipping else line.split(", ")
        for act in acts:
            parlour.play(act)
            history.update(parlour.view(user))
            found += history.lines
            history.lines.clear()
    return found


# Hand history.


def test_every_act_and_street_has_a_line() -> None:
    assert history_lines(duel(), "ann 10, bob 40, ann 40, bob 0, ann 60, bob 60, bob 0, ann 0, bob 20, ann 20") == [
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


def test_an_all_in_is_marked() -> None:
    assert history_lines(duel(stack=100), "ann 90")[0] == "You raise to 100, all-in"
    assert history_lines(duel(stack=100), "ann 90", user="bob")[0] == "ann raises to 100, all-in"


def test_missed_acts_are_inferred() -> None:
    assert history_lines(duel(), "ann 10, bob 0, bob 20", skipping=True) == [
        "You call 10",
        "bob checks",
        "Flop: K♠ Q♥ 9♣",
        "bob bets 20",
    ]
    assert history_lines(trio(), "bob fold, cat 10, ann 0, cat 0", skipping=True) == [
        "bob folds",
        "cat calls 10",
        "You check",
        *history_lines(trio(), "bob fold, cat 10, ann 0, cat 0")[3:],
    ]


def test_a_fold_that_ends_the_hand_is_inferred() -> None:
    assert history_lines(duel(), "ann fold")[:2] == ["You fold", "bob wins, +10"]
    assert history_lines(duel(), "ann 10, bob 0, bob 0, ann 20, bob fold")[-3:-1] == ["bob folds", "You win, +20"]


def test_a_call_that_ends_the_hand_is_no_fold() -> None:
    assert "bob folds" not in history_lines(duel(stack=100), "ann 90, bob 80")


def test_the_end_of_a_hand_has_one_line() -> None:
    parlour = duel(pause_seconds=5.0)
    history = LiveHandHistory("ann")
    for act in ("ann 10", "bob 20", "ann fold"):
        history.update(parlour.view("ann"))
        parlour.play(act)
    history.update(parlour.view("ann"))
    parlour.wait(5.0)
    history.update(parlour.view("ann"))
    assert [*history.lines][-3:] == ["You fold", "bob wins, +20", "Hand 2: the button is bob"]


def test_joining_and_leaving_players_have_lines() -> None:
    parlour = HouseFixture(turn_seconds=10.0)
    history = LiveHandHistory("ann")
    seen = []
    for user in ("ann", "bob", "cat"):
        parlour.join(user)
        history.update(parlour.view("ann"))
    parlour.play("ann 10, bob 0")
    history.update(parlour.view("ann"))
    parlour.leave("bob")
    history.update(parlour.view("ann"))
    seen += history.lines
    assert seen[:2] == ["bob sits down", "Hand 1: the button is yours"]
    assert seen[-4:-1] == ["You win, +20", "bob leaves", "cat sits down"]


def test_a_player_who_leaves_during_a_hand_has_a_line() -> None:
    parlour = trio()
    history = LiveHandHistory("ann")
    history.update(parlour.view("ann"))
    parlour.leave("cat")
    history.update(parlour.view("ann"))
    assert [*history.lines] == ["Hand 1: the button is bob", "cat leaves"]
    assert (history.button, history.big_blind) == (parlour.house.guid_of("bob"), parlour.house.guid_of("ann"))


def test_a_hand_that_is_first_seen_on_the_flop_begins_there() -> None:
    parlour = duel(decks="AS 2C AH 2D KS QH 9C 8D 4H", ante=5)
    parlour.play("ann 10, bob 0")
    history = LiveHandHistory("bob")
    history.update(parlour.view("bob"))
    assert [*history.lines] == ["Hand 1: the button is ann", "Flop: K♠ Q♥ 9♣"]
    assert set(history.stacks_before.values()) == {10_000}
    parlour.play("bob 20, ann fold")
    history.update(parlour.view("bob"))
    assert "You win, +25" in history.lines


def test_invalid_cards_of_winners_are_left_out() -> None:
    parlour = duel(dialect="hspe-go")
    history = LiveHandHistory("ann")
    history.update(parlour.view("ann"))
    parlour.play("ann 9990, bob 9980")
    end = msgspec.json.decode(msgspec.json.encode(parlour.view("ann")))
    end["last_winners"][0]["Hand"][0] = "\x1b[2J"
    history.update(msgspec.convert(end, Game))
    assert "You win, +10000" in history.lines


def random_states(
    parlour: HouseFixture, luck: Random, user: str | None, acts: int = 40
) -> Iterator[tuple[Game, list[tuple[int, ...]]]]:
    """Yield the states that a user sees during random acts, each with the nets of hands that have just ended."""
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
            chips = luck.choice([call, call, call, call + turn.minimum_raise, call + 3 * turn.minimum_raise, us])
            parlour.fold(who) if luck.random() < 0.2 else parlour.bet(who, min(us, chips))
        yield parlour.view(user), parlour.nets[ended:]
        ended = len(parlour.nets)


@pytest.mark.parametrize("rules", [{}, {"ante": 3}, {"straddle": 40}, {"pause_seconds": 1.0}, {"dialect": "hspe-go"}])
@given(st.integers(0, 10**6), st.sampled_from(["", "ann"]))
def test_every_win_has_a_line_with_its_chips(rules: dict[str, Any], seed: int, own: str) -> None:
    parlour = HouseFixture(seed=seed, stack=2000, **rules)
    parlour.join(*USERS)
    history = LiveHandHistory(own)
    playing = False
    for game, nets in random_states(parlour, Random(seed), own or None):
        history.lines.clear()
        history.update(game)
        wins = [int(found[1]) for line in history.lines if (found := re.search(r" wins?\b.*, \+(\d+)$", line))]
        if len(nets) == playing or not nets:  # otherwise some hands were not seen at all
            assert sorted(wins) == sorted(net for hand in nets for net in hand if net > 0)
        playing = is_running(game)


@given(st.integers(0, 10**6), st.sampled_from([None, "ann"]), st.floats(0.1, 0.9))
def test_missed_states_do_not_break_the_history(seed: int, user: str | None, missed: float) -> None:
    parlour = HouseFixture(seed=seed, stack=500, ante=1)
    parlour.join(*USERS)
    luck = Random(seed)
    history = LiveHandHistory(user or "")
    for game, _ in random_states(parlour, luck, user):
        if luck.random() > missed:
            history.update(game)
    assert len(history.lines) <= MAX_LINES
    names = "|".join(("You", *USERS))
    assert all(re.match(f"({names}) [a-z]+|(Flop|Turn|River): |Hand ", line) for line in history.lines)


# Table view.


def drawn(game: Game, width: int = 72, height: int = 40, user: str = "") -> str:
    """Return a game as drawn, after checking that it uses no colours."""
    history = LiveHandHistory()
    history.update(game)
    console = Console(width=width, height=height, force_terminal=True, color_system="truecolor")
    with console.capture() as capture:
        console.print(HoldemTableView(game, user, history))
    shown = capture.get()
    assert not re.search(r"\x1b\[[0-9;]*[34]\d", shown), "the view uses no colours"
    return re.sub(r"\x1b\[[0-9;]*m", "", shown)


@settings(max_examples=example_count(30))
@given(st.integers(0, 10**4), st.integers(28, 100), st.integers(10, 60))
def test_a_table_of_ten_fits_any_terminal(seed: int, width: int, height: int) -> None:
    parlour = HouseFixture(seed=seed)
    parlour.join(*(f"選手-player-{number}" for number in range(10)))
    for game, _ in random_states(parlour, Random(seed), "選手-player-0", acts=4):
        picture = drawn(game, width, height)
        assert max(map(cell_len, picture.splitlines())) <= width
        assert ("╭" in picture) == (width >= 60 and height >= 22 + len(game.table) and bool(game.cards.hole))


def shown(*players: Player, pots: tuple[Pot, ...], turn: str = "b") -> Game:
    """Return a game with these players and pots."""
    return Game("g", players, Turn(turn, 0, 60, 40, "2030-01-01T00:00:10.5Z"), Cards(("AS", "KD")), pots)


def test_side_pots_name_the_players_who_can_win_them() -> None:
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


def test_player_names_are_escaped() -> None:
    rogue = Player("a", "\x1b[2J\r[red]" + "x" * 99, "active", 1, 2, True)
    nameless = Player("b", "", "active", 1, 2, False)
    picture = drawn(shown(rogue, nameless, pots=()))
    assert "?[2J?[red]xxxxx~" in picture
    assert len(display_name(rogue)) == MAX_NAME_COLUMNS
    assert picture.splitlines()[2].split()[:2] == [">", "b"]


def test_duplicate_cards_have_no_hand_name() -> None:
    game = shown(Player("b", "bob", "active", 1, 2, True), pots=())
    odd = msgspec.structs.replace(game, cards=Cards(("AS", "AS", "KD"), ("AS", "2C", "3C")))
    assert "Cards: A♠ A♠ K♦" in drawn(odd, width=40)


# Clock.


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
def test_expiry_times_are_parsed_in_every_format(expiry: str, left: int | None) -> None:
    assert seconds_left(expiry, 1893456000.0) == left


@pytest.mark.parametrize(
    ("reply", "offset"),
    [
        (ApiResponse(200, {"date": "Tue, 01 Jan 2030 00:01:00 GMT"}, b"[]"), 60.5),
        (ApiResponse(200, {"date": "Mon, 31 Dec 2029 23:59:00 GMT"}, b"[]"), -59.5),
        (ApiResponse(200, {"date": "Tue, 01 Jan 2030 00:00:01 GMT"}, b"[]"), 0.0),
        (ApiResponse(200, {"date": "tomorrow"}, b"[]"), 0.0),
        (ApiResponse(200, {}, b"[]"), 0.0),
        (ConnectionFailed("gone"), 0.0),
    ],
)
def test_a_wrong_clock_is_corrected_by_the_servers(reply: ApiResponse | ConnectionFailed, offset: float) -> None:
    server = IndependentServer()
    server.override = lambda _: reply
    assert server.run(clock_offset(server.client(), lambda: 1893456000.0)) == offset
    assert server.requests == [ApiRequest("GET", "/games/")]


def test_a_late_act_is_explained() -> None:
    async def make_move(move: object) -> str:
        raise IllegalMove(move, ())

    seat: Any = SimpleNamespace(nets=[], player=SimpleNamespace(options=Options("ann", "")), make_move=make_move)
    scene = HoldemScene("server", lambda: 0.0)
    scene.sit(seat)
    assert asyncio.run(scene.submit(20)) == "20 is not allowed here; allowed: nothing"
