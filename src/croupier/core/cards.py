"""Packs of cards, the spellings of cards, and the parser of deck files."""

from collections.abc import Mapping, Sequence

type Order = tuple[int, ...]
"""Cards in dealing order, each as its index in the pack."""


class Pack:
    """The distinct cards of a game in canonical order.

    `names` has the canonical spelling of each card; `spellings` maps further spellings for deck files to names. Case is
    ignored.

    >>> pack = Pack(["J", "Q", "K"], {"king": "K"})
    >>> pack.parse_decks("Q\\nKing")
    ((1, 2),)
    """

    def __init__(self, names: Sequence[str], spellings: Mapping[str, str] | None = None) -> None:
        self.names = tuple(names)
        self._index = {name.upper(): i for i, name in enumerate(names)}
        for spelling, name in (spellings or {}).items():
            self._index[spelling.upper()] = self._index[name.upper()]

    def __len__(self) -> int:
        return len(self.names)

    def parse_decks(self, text: str, source: str = "deck file", copies: int = 1) -> tuple[Order, ...]:
        """Parse a deck file: one card per line, top first; blank lines separate decks; `#` starts a comment.

        A deck may omit cards, and may list each card at most `copies` times (once per pack in the shoe): copy k of
        card i has the index i + k × len(pack). Raises ValueError if a line is not a card, if a deck lists a card too
        often, or if there is no card at all; the message names `source` and the line.
        """
        decks: list[list[int]] = [[]]
        for number, line in enumerate(text.splitlines(), start=1):
            content, *comment = line.split("#", 1)
            card = content.strip()
            if not card:
                if decks[-1] and not comment:
                    decks.append([])
                continue
            index = self._index.get(card.upper())
            if index is None:
                raise ValueError(f"{source}, line {number}: found {card!r}; allowed: {', '.join(self.names)}")
            copy = sum(other % len(self) == index for other in decks[-1])
            if copy == copies:
                limit = "once" if copies == 1 else f"{copies} times"
                raise ValueError(
                    f"{source}, line {number}: found {card!r} once more in one deck; allowed: each card {limit}, "
                    "with a blank line between decks"
                )
            decks[-1].append(index + copy * len(self))
        parsed = tuple(tuple(deck) for deck in decks if deck)
        if not parsed:
            raise ValueError(f"{source}: found no card; allowed: one of {', '.join(self.names)} a line")
        return parsed
