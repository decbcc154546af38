"""`croupier mcp` without the MCP SDK, and its options; tests/interop plays through it."""

import pytest

from croupier.cli.mcp import mcp


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
