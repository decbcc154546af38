"""`croupier hands`: the hands of hold'em that were played at tables whose store it is."""

import json
import sys
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, Literal

from cyclopts import App, Parameter

from croupier.cli.db import Where, fail, with_store

if TYPE_CHECKING:
    from croupier.store.records import Hand
    from croupier.store.store import Store

app = App(name="hands", help="Hands that were played: list them, show one, export them.")

type Form = Literal["phh", "ohh", "jsonl"]

MOST: Final = 1_000_000
"""So many hands are exported at most."""


@app.command(name="list")
def list_hands(
    *,
    table: str | None = None,
    player: str | None = None,
    most: int = 20,
    json: bool = False,
    store: Where = None,
) -> int:
    """List the latest hands, the latest first.

    Parameters
    ----------
    table:
        Only those of this game.
    player:
        Only those that this user has played.
    most:
        How many are listed.
    json:
        Print a JSON object a line.
    """
    if most < 1:
        return fail(f"found {most} hands; allowed: 1 or more")

    async def story(store: "Store") -> int:
        found = await store.hands("holdem", table, player, most=most)
        (_as_json if json else _as_lines)(found)
        return 0

    return with_store(store, story)


@app.command
def show(hand: str, *, form: Annotated[Form, Parameter(name="--format")] = "phh", store: Where = None) -> int:
    """Show one hand, with all cards.

    Parameters
    ----------
    hand:
        Its table and its number, as `list` has them: TABLE/NUMBER.
    form:
        As a PHH file, as Open Hand History, or as it is kept.
    """
    table, slash, number = hand.rpartition("/")
    if not slash or not (number.isascii() and number.isdecimal() and len(number) < 19):
        return fail(f"found the hand {hand[:100]!r}; allowed: TABLE/NUMBER")

    async def story(store: "Store") -> int:
        found = await store.hand("holdem", table, int(number))
        if found is None:
            return fail(f"found no hand {hand[:100]!r}; allowed: one of `croupier hands list`")
        sys.stdout.write(TOLD[form](found))
        return 0

    return with_store(store, story)


@app.command
def export(
    folder: Path,
    *,
    form: Annotated[Form, Parameter(name="--format")] = "phh",
    table: str | None = None,
    player: str | None = None,
    store: Where = None,
) -> int:
    """Write hands into a new folder, each into a file of its own, with all cards.

    Parameters
    ----------
    folder:
        Nothing may be there.
    form:
        PHH files, Open Hand History, or as they are kept.
    table:
        Only those of this game.
    player:
        Only those that this user has played.
    """

    async def story(store: "Store") -> int:
        found = await store.hands("holdem", table, player, most=MOST)
        try:
            folder.mkdir(parents=True)
            for each in found:
                (folder / f"{each.table}-{each.number}.{SUFFIX[form]}").write_text(TOLD[form](each))
        except OSError as error:
            return fail(f"cannot write {folder}: {error.strerror}")
        print(f"{len(found)} hands of {store.place} are in {folder}")
        return 0

    return with_store(store, story)


def _phh(hand: "Hand") -> str:
    from croupier.rooms.holdem.histories import to_phh
    from croupier.rooms.holdem.keeping import KeptHand
    from croupier.rooms.holdem.table import Played

    played = Played.of(KeptHand.from_json(hand.record.encode()))
    return to_phh(played.hand, players=hand.players, table=hand.table, number=hand.number)


def _ohh(hand: "Hand") -> str:
    from croupier.rooms.holdem.histories import to_ohh
    from croupier.rooms.holdem.keeping import KeptHand
    from croupier.rooms.holdem.table import Played

    played = Played.of(KeptHand.from_json(hand.record.encode()))
    told = to_ohh(played.hand, players=hand.players, table=hand.table, number=hand.number)
    return f"{told.decode()}\n"


TOLD: Final[dict[Form, Callable[["Hand"], str]]] = {"phh": _phh, "ohh": _ohh, "jsonl": lambda hand: f"{hand.record}\n"}
SUFFIX: Final[dict[Form, str]] = {"phh": "phh", "ohh": "json", "jsonl": "jsonl"}


def _time(hand: "Hand") -> datetime:
    return datetime.fromtimestamp(hand.time, UTC)


def _as_json(hands: "Sequence[Hand]") -> None:
    for hand in hands:
        told = {"table": hand.table, "number": hand.number, "time": hand.time, "players": hand.players}
        print(json.dumps(told | {"summary": hand.summary}, ensure_ascii=False))


def _as_lines(hands: "Sequence[Hand]") -> None:
    for hand in hands:
        print(f"{_time(hand):%Y-%m-%d %H:%M:%S}  {hand.table}/{hand.number}  {hand.summary}")
