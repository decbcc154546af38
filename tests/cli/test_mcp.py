"""`croupier mcp` without the MCP SDK, and its options; tests/interop plays through it."""

import sys

import pytest

from croupier.cli.mcp import mcp


def test_without_the_sdk_the_command_names_the_extra(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delitem(sys.modules, "croupier.mcp.server", raising=False)
    for name in [name for name in sys.modules if name.partition(".")[0] == "mcp"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "mcp", None)
    assert mcp() == 1
    error = capsys.readouterr().err
    assert "is missing; install it with: pip install 'croupier[mcp]'" in error


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"server": "cards.example", "seed": 1}, "found --seed with --server; allowed: one of them"),
        ({"server": "cards.example:x"}, "found 'cards.example:x'; allowed: HOST or HOST:PORT"),
    ],
)
def test_options_that_contradict_each_other_or_are_malformed_are_refused(
    options: dict[str, object], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        mcp(**options)  # type: ignore[arg-type]  # the types of both options
