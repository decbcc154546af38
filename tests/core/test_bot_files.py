"""Bots in Python files: loaded by path, once in each process, with errors that say what is wrong."""

import sys
from pathlib import Path

import pytest

from croupier.core.bot_files import BotFile
from croupier.core.bots import RandomBot, bot_factory

HONEST = """
class Honest:
    def choose(self, view, legal, luck):
        return legal[-1]
"""


def write(folder: Path, source: str, name: str = "mine.py") -> Path:
    path = folder / name
    path.write_text(source)
    return path


def test_a_class_of_a_file_makes_a_new_bot_each_time(tmp_path: Path) -> None:
    make = bot_factory({}, f"{write(tmp_path, HONEST)}:Honest")
    assert make().choose(None, ["a", "b"], None) == "b"
    assert make() is not make()


def test_an_argument_reaches_the_class_as_text_with_its_colons(tmp_path: Path) -> None:
    source = "class Own:\n def __init__(self, text): self.text = text\n def choose(self, view, legal, luck): ..."
    make = bot_factory({}, f"{write(tmp_path, source)}:Own:a:b c")
    assert vars(make()) == {"text": "a:b c"}


def test_a_function_that_makes_bots_serves_as_well(tmp_path: Path) -> None:
    path = write(tmp_path, "from croupier.core.bots import RandomBot\ndef quick(): return RandomBot()")
    assert isinstance(bot_factory({}, f"{path}:quick")(), RandomBot)


def test_a_file_is_run_once_and_has_a_name_of_its_own(tmp_path: Path) -> None:
    source = f"RUNS = []\nassert __name__ != '__main__'\n{HONEST}"
    one, other = write(tmp_path, source), write(tmp_path, source, "other.py")
    bots = [bot_factory({}, f"{path}:Honest")() for path in (one, one, other)]
    assert type(bots[0]) is type(bots[1])
    assert type(bots[0]) is not type(bots[2])


def test_a_file_may_import_another_one_beside_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [*sys.path])
    write(tmp_path, "LAST = -1", "beside_the_bot.py")
    source = HONEST.replace("-1", "beside_the_bot.LAST")
    make = bot_factory({}, f"{write(tmp_path, f'import beside_the_bot\n{source}')}:Honest")
    assert make().choose(None, "ab", None) == "b"


def test_dataclasses_of_a_file_work(tmp_path: Path) -> None:
    source = (
        f"from __future__ import annotations\nfrom dataclasses import dataclass\n@dataclass{HONEST}    seen: int = 0"
    )
    assert "seen=0" in repr(bot_factory({}, f"{write(tmp_path, source)}:Honest")())


@pytest.mark.parametrize(
    ("source", "name", "reason"),
    [
        (HONEST, "", "the class is missing; allowed: {path}:Honest"),
        (HONEST, ":", "the class is missing; allowed: {path}:Honest"),
        (HONEST, ":Honset", "there is no class 'Honset'; allowed: {path}:Honest"),
        ("x = 1", ":X", "there is no class 'X'; allowed: a class with a method choose(view, legal, luck)"),
        ("\nclass X(\n", ":X", "the file cannot be run: line 2: '(' was never closed"),
        ("\n\n1 / 0", ":X", "the file cannot be run: line 3: ZeroDivisionError: division by zero"),
        ("raise SystemExit(3)", ":X", "the file cannot be run: line 1: SystemExit: 3"),
        ("import nothing_here", ":X", "line 1: ModuleNotFoundError: No module named 'nothing_here'"),
        ("class X: pass", ":X", "X has no method choose; allowed: a class with a method choose(view, legal, luck)"),
        ("class X:\n async def choose(self, v, l, x): ...", ":X", "X has an asynchronous method choose; allowed: "),
        (
            "class X:\n def choose(self, view, legal): ...",
            ":X",
            "X has a method choose(view, legal), which is called with three arguments: too many positional arguments",
        ),
        (HONEST, ":Honest:1", "Honest cannot be made: TypeError: Honest() takes no arguments"),
        ("class X:\n def __init__(self, n): int(n)", ":X:b", "line 2: ValueError: invalid literal for int()"),
        ("class X:\n def __init__(self, n): ...", ":X", "missing 1 required positional argument: 'n'"),
    ],
)
def test_a_file_that_makes_no_bot_is_refused_with_the_reason(
    tmp_path: Path, source: str, name: str, reason: str
) -> None:
    path = write(tmp_path, source)
    with pytest.raises(ValueError, match=r"^found the bot ") as refused:
        bot_factory({}, f"{path}{name}")
    assert str(refused.value).startswith(f"found the bot '{path}{name.rstrip(':')}': ")
    assert reason.format(path=path) in str(refused.value)


def test_a_file_with_an_error_can_be_mended_and_loaded_again(tmp_path: Path) -> None:
    path = write(tmp_path, "1 / 0")
    with pytest.raises(ValueError, match="cannot be run"):
        bot_factory({}, f"{path}:Honest")
    write(tmp_path, HONEST)
    assert bot_factory({}, f"{path}:Honest")().choose(None, "ab", None) == "b"


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"nothing\.py:X': there is no such file; allowed: a Python file and a class"):
        bot_factory({}, f"{tmp_path}/nothing.py:X")


@pytest.mark.parametrize("text", ["a.py:B", "a b/c.py:B:", "a.py:B:c:d", "/x.py/y.py:Z:1"])
def test_the_parts_of_a_bot_file_make_its_text(text: str) -> None:
    assert str(BotFile.parse(text)) == text
