"""Packs of cards, how they are spelt, and the deck files that list them."""

from collections.abc import Mapping, Sequence

type Order = tuple[int, ...]
"""Cards in the order in which they are dealt, each as its index in the pack."""


class Pack:
    """The different cards of a game in their canonical order.

    `names` spells each card; `spellings` are further ways to write one in a deck file. Letters of either case are the
    same.
    """

    def __init__(self, names: Sequence[str], spellings: Mapping[str, str] | None = None) -> None:
        self.names = tuple(names)
        self._index = {name.upper(): i for i, name in enumerate(names)}
        for spelling, name in (spellings or {}).items():
            self._index[spelling.upper()] = self._index[name.upper()]

    def __len__(self) -> int:
        return len(self.names)

    def parse_decks(self, text: str, source: str = "deck file", copies: int = 1) -> tuple[Order, ...]:
        """Read a deck file: one card a line, top first; blank lines separate decks; `#` begins a comment.

        A deck may list fewer cards than there are, and each card as often as the shoe has `copies` of the pack: copy k
        of card i is number i + k × the size of the pack. Raises ValueError naming the line, what was found and what was
        allowed.
        """
        decks: list[list[int]] = [[]]
        for number, line in enumerate(text.splitlines(), start=1):
            written, *comment = line.split("#", 1)
            card = written.strip()
            if not card:
                if decks[-1] and not comment:
                    decks.append([])
                continue
            index = self._index.get(card.upper())
            if index is None:
                raise ValueError(f"{source}, line {number}: found {card!r}; allowed: {', '.join(self.names)}")
            copy = sum(other % len(self) == index for other in decks[-1])
            if copy == copies:
                often = "once" if copies == 1 else f"{copies} times"
                raise ValueError(
                    f"{source}, line {number}: found {card!r} once more in one deck; allowed: each card {often}, "
                    "with a blank line between decks"
                )
            decks[-1].append(index + copy * len(self))
        found = tuple(tuple(deck) for deck in decks if deck)
        if not found:
            raise ValueError(f"{source}: found no card; allowed: one of {', '.join(self.names)} a line")
        return found
