"""The public API: every public name is documented, and the documentation imports nothing else."""

import asyncio
import doctest
import inspect
import re
from fractions import Fraction
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from docs.public_api import CONSTANTS, MODULES, public_api_page, public_names, summary

import croupier
from croupier.clients.play import BotTally
from tests.docstring_examples import run_examples
from tests.processes import ROOT, Serving
from tests.sampling import extended

PAGES = [
    ROOT / "README.md",
    *(ROOT / "docs" / f"{name}.md" for name in ("arena", "bots", "environments", "library", "quickstart", "solutions")),
    *(ROOT / "examples").glob("*.py"),
]


def module_name(path: Path) -> str:
    return ".".join(path.relative_to(ROOT / "src").with_suffix("").parts).removesuffix(".__init__")


NEEDS_LIBRARIES = "croupier.environments"
"""The examples of this module need other libraries: tests/interop/test_pages.py runs them."""
SLOW = "croupier.rooms.blackjack.solution"
EXAMPLES = [
    module
    for path in sorted((ROOT / "src").rglob("*.py"))
    if ">>> " in path.read_text(encoding="utf-8") and (module := module_name(path)) != NEEDS_LIBRARIES
]


@pytest.mark.interpreted
@pytest.mark.parametrize("module", MODULES)
def test_every_public_name_can_be_imported_and_is_documented(module: str) -> None:
    loaded = import_module(module)
    names = public_names(module)
    assert len(set(names)) == len(names)
    for name in names:
        assert summary(name, getattr(loaded, name))
        assert name in CONSTANTS or getattr(loaded, name).__doc__


@pytest.mark.interpreted
def test_the_page_lists_the_public_names_and_no_others() -> None:
    page = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    assert page == public_api_page(), "make docs writes it anew"
    for module in MODULES:
        section = page.partition(f"## {module}\n")[2].partition("\n## ")[0]
        assert re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE) == public_names(module)


def test_an_unknown_name_raises_attribute_error() -> None:
    with pytest.raises(AttributeError, match="'croupier' has no attribute 'nothing'"):
        _ = croupier.nothing


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_pages_for_users_import_only_public_modules(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    imported = re.findall(r"^\s*(?:from|import) (croupier[\w.]*)", text, re.MULTILINE)
    assert {*imported} <= {*MODULES}
    named = re.findall(r"`(croupier(?:\.\w+)+)", text)
    for path in named:
        module, _, name = path.rpartition(".")
        assert path in MODULES or (module in MODULES and name in public_names(module)), path


@pytest.mark.interpreted
@pytest.mark.parametrize("module", MODULES)
def test_every_public_name_has_an_example(module: str) -> None:
    """A constant has no docstring: the docstring of its module shows it."""
    loaded = import_module(module)
    for name in public_names(module):
        found = getattr(loaded, name)
        text = inspect.getdoc(loaded if name in CONSTANTS else found) or ""
        shown = [example for example in doctest.DocTestParser().get_examples(text) if not example.options]
        assert shown, f"{module}.{name} has no example that a test runs"
        used = " ".join(example.source for example in shown)
        assert inspect.ismodule(found) or re.search(rf"\b{name}\b", used), f"the example of {module}.{name} lacks it"


@pytest.mark.interpreted
@pytest.mark.parametrize(
    "module", [pytest.param(module, marks=[pytest.mark.extended] * (module == SLOW)) for module in EXAMPLES]
)
def test_examples_in_docstrings_give_what_they_show(module: str) -> None:
    run_examples(module)


@pytest.mark.parametrize("room", ["kuhn", "sevenhalf", "blackjack"])
def test_play_lets_a_bot_play_at_a_house(room: str) -> None:
    with Serving(room, "--port", 0) as server:
        tally = asyncio.run(croupier.play(room, "random", f"127.0.0.1:{server.port}", games=20, seed=1))
        assert isinstance(tally, BotTally)
        assert (len(tally.nets), tally.fault) == (20, None)


def test_play_lets_bots_play_holdem() -> None:
    with Serving("holdem", "--port", 0) as server:

        async def main() -> BotTally | croupier.oldmaid.RingTally:
            address = f"127.0.0.1:{server.port}"
            one = asyncio.create_task(croupier.play("holdem", "caller", address, user="a", password="p", games=None))
            two = await croupier.play("holdem", "maniac", address, user="b", password="p", games=5, seed=2)
            one.cancel()
            return two

        tally = asyncio.run(main())
        assert isinstance(tally, BotTally)
        assert (len(tally.nets), tally.fault) == (5, None)


def test_play_lets_a_ring_play_old_maid() -> None:
    with Serving("oldmaid", "--port", 0, "--players", 2) as server:

        async def main() -> list[Any]:
            address = f"127.0.0.1:{server.port}"
            sit = (croupier.play("oldmaid", "random", address, user=nick, games=1) for nick in ("ann", "bob"))
            return await asyncio.gather(*sit)

        tallies = asyncio.run(main())
        assert [tally.faults for tally in tallies] == [[], []]
        assert sorted(tally.losses for tally in tallies) == [0, 1]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("poker", "random"), "found the room 'poker'; allowed: kuhn, sevenhalf, blackjack, holdem, oldmaid"),
        (("kuhn", "nobody"), "'nobody'"),
        (("kuhn", "random", "h:x"), "found 'h:x'; allowed: HOST or HOST:PORT"),
        (("kuhn", "random", "h:70000"), "found the port 70000; allowed: 1 to 65535"),
    ],
)
def test_play_refuses_bad_arguments(arguments: tuple[str, ...], expected: str) -> None:
    with pytest.raises(ValueError, match=re.escape(expected)):
        asyncio.run(croupier.play(*arguments))


def test_solve_names_the_rooms_that_have_a_solver() -> None:
    with pytest.raises(ValueError, match="found the room 'holdem'; allowed: kuhn, sevenhalf, blackjack, oldmaid"):
        croupier.solve("holdem")
    assert croupier.solve("sevenhalf", max_bet=2).title == "Seven and a half"


# Games in this process.


class Honest:
    def choose(self, view: Any, legal: Any, luck: Any) -> Any:
        wanted = ("BET", "CAL") if view.card == "K" else ("CHK", "FLD")
        return next(action for action in wanted if action in legal)


KUHN_VALUES = {"book:king-only": 0, "book:no-jack": 1 / 36, "book:always-bet": 1 / 9, "book:never-bet": 2 / 9}
"""What the equilibrium wins a game against a habit, over both seats, by enumeration."""


@pytest.mark.parametrize(("habit", "value"), extended(KUHN_VALUES.items(), 4))
def test_a_match_holds_the_exact_value_in_its_interval(habit: str, value: float) -> None:
    result = croupier.match("kuhn", "equilibrium", habit, hands=20_000, seed=1)
    assert result.low < value < result.high
    assert result.high - result.low < 0.05
    assert (result.hands, result.unit) == (20_000, "coins/hand")


def test_both_hands_of_a_deal_have_the_same_cards() -> None:
    result = croupier.match("kuhn", Honest(), Honest(), hands=200, seed=1)
    assert result[:3] == (0, 0, 0), "bots without randomness cancel out"
    assert croupier.match("holdem", "caller", "caller", hands=200, seed=1)[:3] == (0, 0, 0)


def test_bots_at_a_bank_play_the_same_shoes() -> None:
    result = croupier.match("blackjack", "book:17", "book:17", hands=400, seed=1)
    assert (result.mean, result.unit) == (0, "bets/hand")
    assert croupier.match("blackjack", "book:17", "book:21", hands=2000, seed=1).low > 0


def test_a_match_of_holdem_counts_big_blinds() -> None:
    result = croupier.match("holdem", "tight", "maniac", hands=200, seed=1)
    assert result.unit == "bb/100"
    assert result == croupier.match("holdem", "tight", "maniac", hands=200, seed=1)


def test_bots_change_seats_after_each_game() -> None:
    first, second = croupier.simulate("kuhn", "equilibrium", "equilibrium", games=36_000, seed=1)
    assert first.mean == -second.mean
    seat_1 = [net if number % 2 == 0 else -net for number, net in enumerate(first.nets)]
    mean = sum(seat_1) / len(seat_1)
    assert abs(mean + 1 / 18) < 3 * first.margin_of_error / 1.96
    assert croupier.simulate("kuhn", "random", "random", games=50, seed=3) == croupier.simulate(
        "kuhn", "random", "random", games=50, seed=3
    )


@pytest.mark.extended
def test_a_simulation_agrees_with_the_exact_value_of_blackjack() -> None:
    (tally,) = croupier.simulate("blackjack", "book:17", games=20_000, seed=4)
    (best,) = croupier.simulate("blackjack", "exact", games=2000, seed=4)
    value = 100 * float(croupier.solve("blackjack", decks=1).value)
    assert tally.mean < value + tally.margin_of_error
    assert abs(best.mean - value) < 2 * best.margin_of_error


@pytest.mark.parametrize("players", [2, 3, 10])
def test_simulated_hands_of_holdem_are_zero_sum(players: int) -> None:
    tallies = croupier.simulate("holdem", *["maniac"] * players, games=30, seed=2)
    assert len(tallies) == players
    assert {sum(nets) for nets in zip(*(tally.nets for tally in tallies), strict=True)} == {0}
    assert any(net for tally in tallies for net in tally.nets)


class Coin:
    """The first seat guesses a coin."""

    seats = 2

    def start(self) -> tuple[Any, ...]:
        return ()

    def turn(self, state: tuple[Any, ...]) -> Any:
        return (0, croupier.Turn.CHANCE, croupier.Turn.OVER)[len(state)]

    def legal(self, state: tuple[Any, ...]) -> tuple[Any, ...]:
        return ("heads", "tails") if len(state) < 2 else ()

    def odds(self, state: tuple[Any, ...]) -> dict[Any, Fraction]:
        return {"heads": Fraction(2, 3), "tails": Fraction(1, 3)} if len(state) == 1 else {}

    def play(self, state: tuple[Any, ...], move: Any) -> tuple[Any, ...]:
        return (*state, move)

    def payoff(self, state: tuple[Any, ...]) -> tuple[int, int]:
        return (1, -1) if state[0] == state[1] else (-1, 1)

    def view(self, state: tuple[Any, ...], seat: int) -> Any:
        return state[:1]


class Says:
    def __init__(self, move: object) -> None:
        self.move = move

    def choose(self, view: Any, legal: Any, luck: Any) -> Any:
        return self.move


def test_rules_of_your_own_are_simulated_with_their_exact_odds() -> None:
    heads, _ = croupier.simulate(Coin(), Says("heads"), Says("heads"), games=9000, seed=1)
    as_guesser = [net for number, net in enumerate(heads.nets) if number % 2 == 0]
    assert abs(sum(as_guesser) / len(as_guesser) - 1 / 3) < 3 * heads.margin_of_error
    assert croupier.match(Coin(), Says("heads"), Says("tails"), hands=4000, seed=1).low > 0


def test_a_bot_in_a_file_is_named_by_its_path(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("class Calls:\n def choose(self, view, legal, luck): return view.call")
    one, other = croupier.simulate("holdem", f"{tmp_path}/mine.py:Calls", "caller", games=20, seed=1)
    assert len(one.nets) == len(other.nets) == 20


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("poker", "random"), "found the room 'poker'; allowed: kuhn"),
        (("oldmaid", "random"), "found the room 'oldmaid'; allowed: kuhn, sevenhalf, blackjack, holdem"),
        (("kuhn", "random"), "found 1 bot; allowed: 2"),
        (("blackjack", "random", "random"), "found 2 bots; allowed: 1"),
        (("holdem", "random"), "found 1 bot; allowed: 2 to 10"),
        (("kuhn", "random", "nobody"), "found the bot 'nobody'; allowed: equilibrium"),
        (("kuhn", "random", Honest), "found the class Honest; allowed: an object, Honest()"),
        ((Coin(), "heads", "tails"), "found the bot 'heads'; allowed: FILE.py:CLASS"),
        (("kuhn", Says("CALL"), "random"), "'CALL' is not allowed here; allowed: CHK, BET"),
    ],
)
def test_simulate_refuses_bad_arguments(arguments: tuple[Any, ...], expected: str) -> None:
    with pytest.raises(ValueError, match=re.escape(expected)):
        croupier.simulate(*arguments, games=1)


def test_a_match_needs_enough_hands_for_an_interval() -> None:
    with pytest.raises(ValueError, match="found 99 hands; allowed: 100 or more"):
        croupier.match("kuhn", "random", "random", hands=99)


def test_the_public_names_are_listed_before_they_are_imported() -> None:
    assert {"simulate", "match", "kuhn"} <= {*dir(croupier)}
