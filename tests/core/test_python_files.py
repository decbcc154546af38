"""Python files that users name on the command line."""

from pathlib import Path

import pytest

from croupier.core.python_files import load_object, load_python_file, split_python_file


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("leduc.py", ("leduc.py", "", None)),
        ("games/leduc.py:RULES", ("games/leduc.py", "RULES", None)),
        ("C:/games/leduc.py:RULES", ("C:/games/leduc.py", "RULES", None)),
        ("C:/games/leduc.py", ("C:/games/leduc.py", "", None)),
        ("bots/mine.py:Careful:3", ("bots/mine.py", "Careful", "3")),
        ("equilibrium:1/6", None),
        ("127.0.0.1:1212", None),
        ("kuhn", None),
    ],
)
def test_a_text_is_split_into_file_name_and_argument(text: str, parts: tuple[str, str, str | None] | None) -> None:
    assert split_python_file(text) == (parts and (Path(parts[0]), *parts[1:]))


def test_a_file_is_run_once_and_may_import_the_files_beside_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.path", [])
    (tmp_path / "beside_the_game.py").write_text("CARDS = 3\n")
    path = tmp_path / "game.py"
    path.write_text(
        "from dataclasses import dataclass\nimport beside_the_game\n"
        "@dataclass\nclass Game:\n    cards: 'int' = beside_the_game.CARDS\nGAME = Game()\n"
    )
    game = load_object(path, "GAME")
    assert getattr(game, "cards", None) == 3
    assert load_object(path, "GAME") is game


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x = 1\n1 / 0\n", ": the file cannot be run: line 2: ZeroDivisionError: division by zero"),
        ("x = 1\ny = (\n", ": the file cannot be run: line 2: '.' was never closed"),
        ("raise SystemExit\n", ": the file cannot be run: line 1: SystemExit"),
        ("cards = 3\n", "found no RULES in .*; allowed: cards"),
        ("", "found no RULES in .*; allowed: a file that defines it"),
    ],
)
def test_a_file_that_is_of_no_use_raises_value_error(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "game.py"
    path.write_text(text)
    with pytest.raises(ValueError, match=message):
        load_object(path, "RULES")


def test_a_file_that_has_been_mended_is_run_again(tmp_path: Path) -> None:
    path = tmp_path / "game.py"
    path.write_text("1 / 0\n")
    with pytest.raises(ValueError, match="ZeroDivisionError"):
        load_python_file(path)
    path.write_text("CARDS = 30\n")
    assert load_python_file(path).CARDS == 30
