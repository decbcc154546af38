"""The public API: every public name is documented, and the documentation imports nothing else."""

import asyncio
import doctest
import re
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from docs.public_api import CONSTANTS, MODULES, public_api_page, public_names, summary

import croupier
from croupier.clients.play import BotTally
from tests.processes import ROOT, Serving

PAGES = [
    ROOT / "README.md",
    *(ROOT / "docs" / f"{name}.md" for name in ("bots", "holdem-bots", "library", "quickstart")),
]
EXAMPLES = [path for path in sorted((ROOT / "src").rglob("*.py")) if ">>> " in path.read_text(encoding="utf-8")]


def module_name(path: Path) -> str:
    return ".".join(path.relative_to(ROOT / "src").with_suffix("").parts).removesuffix(".__init__")


@pytest.mark.parametrize("module", MODULES)
def test_every_public_name_can_be_imported_and_is_documented(module: str) -> None:
    loaded = import_module(module)
    names = public_names(module)
    assert len(set(names)) == len(names)
    for name in names:
        assert summary(name, getattr(loaded, name))
        assert name in CONSTANTS or getattr(loaded, name).__doc__


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


@pytest.mark.parametrize("path", EXAMPLES, ids=[module_name(path) for path in EXAMPLES])
def test_examples_in_docstrings_give_what_they_show(path: Path) -> None:
    failed, tried = doctest.testmod(import_module(module_name(path)), optionflags=doctest.ELLIPSIS)
    assert tried
    assert not failed


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
