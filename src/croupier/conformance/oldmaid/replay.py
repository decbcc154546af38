"""Conversations on paper as cases for a player: we say what the table and the others say there, and hear what it says.

The program is free in what order it speaks to different ends, and in what it picks. So every end goes through its own
lines: an answer leaves when what it answers is there; a request, and whatever else happens, when all that stands above
it on paper has come true.
"""

import asyncio
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from croupier.conformance.oldmaid.answers import Heard, spelt
from croupier.conformance.oldmaid.endpoints import Harbour, Link, Running
from croupier.conformance.oldmaid.findings import Broken, Chosen, Tolerated
from croupier.conformance.program import ending
from croupier.core.errors import Violation
from croupier.core.http_transcript import QUOTED, Mismatch, quoted, substitute, tree
from croupier.core.json_transcript import values
from croupier.core.session import Address
from croupier.core.transcript import Line, Transcript
from croupier.rooms.oldmaid.wire import Join

ME: Final = "me"
"""What the player is called on paper."""

CALLED: Final = re.compile(r"(\w+) ([\d.]+):(\d+)")
MAPPED: Final = "::ffff:"
LISTED: Final = re.compile(rb'\["([\d.]+)", (\d+)\]')
"""An address in what is said as it stands on paper."""

SETTLED: Final = 0.05
"""Before we speak to the program at another end it has so many seconds to make something of what we have said last."""

MOMENT: Final = 0.1
"""So many seconds it is listened, when the paper is at its end, whether more is said."""

POLLED: Final = 1.3
"""A status that is on paper may be asked for within so many seconds, or never: nobody has to."""

SLICE: Final = 0.1
"""So many seconds it is waited before it is looked whether the program still runs."""

START: Final = 3.0
"""A program has so many times the patience to start, and to join."""

SILENCE: Final = "nothing within {:g} seconds"

NATURAL: Final[Mapping[str, Sequence[str]]] = {
    "join": ("3.1",),
    "draw": ("4.8", "4.7", "4.10", "4.9"),
    "your_turn": ("4.7", "9.5", "9.7", "4.8"),
    "discard": ("5.11", "5.1", "7.8"),
    "out_of_cards": ("7.12", "7.10"),
    "offer": ("7.8", "4.9", "7.1", "7.2", "7.9", "7.10", "7.15", "8.11", "9.6", "9.8", "9.9"),
    "pick": ("7.2", "7.15", "7.3", "7.4"),
    "card": ("7.5", "7.4", "7.7"),
    "ok": ("4.8", "7.2", "4.10", "7.9"),
    "out": ("7.9", "7.16"),
    "status": ("7.16",),
}
"""The clauses that something heard is about, by what it is; the first of them if the paper names none."""


class Written(NamedTuple):
    """A line of the paper with its place, and what is to be heard or said there: one JSON value, or bytes."""

    line: Line
    value: Any
    said: bytes
    answer: bool


class Script:
    """Plays a paper with the program. `patience` is how many seconds it may take to say what is to come."""

    def __init__(self, paper: Transcript, harbour: Harbour, program: Running, patience: float) -> None:
        self._paper = paper
        self._harbour = harbour
        self._program = program
        self._patience = patience
        self._extra = 0.0
        self._links: dict[str, Link] = {}
        self._left: set[str] = set()
        self._todo: list[Written] = []
        self._places: dict[Address, Address] = {}
        self._me: Address | None = None
        self._names: dict[str, str] = {}
        self._offered: dict[str, int] = {}
        self._choice = ""
        self._departure = ""
        self._said = ""  # to whom we have said something since the program has said anything
        harbour.arrived = self._arrived

    async def prepare(self) -> None:
        """Let all listen who do on paper."""
        self._todo = [*written(self._paper)]
        for name, host, port in CALLED.findall(self._paper.head.get("calls", "")):
            self._places[host, int(port)] = await self._harbour.open(name)

    async def play(self) -> None:
        """Go through the paper. Raises Broken where it does not come true, and Chosen, and Tolerated."""
        clock = asyncio.get_running_loop().time
        patience, since = START * self._patience, clock()
        while self._todo:
            self._harbour.stirred.clear()
            left = len(self._todo)
            if await self._step():
                if len(self._todo) < left:  # a status that is not on paper is answered, and that is all
                    patience, since = self._patience + self._extra, clock()
                continue
            await self._wait(patience, clock() - since)
        await self._quiet()
        if self._departure:
            raise Tolerated(self._departure)
        if self._choice:
            raise Chosen(self._choice)

    # Going on.

    async def _step(self) -> bool:
        """Do the next thing that can be done; whether there was one."""
        seen: set[str] = set()
        for at, entry in enumerate(self._todo):
            line = entry.line
            free = line.peer not in seen
            seen.add(line.peer)
            if line.kind == "<":
                if free and self._hear(entry):
                    return True
                continue
            if line.kind == ">":
                done = free and (entry.answer or not at) and await self._say(entry)
            elif line.kind == "dropped":
                done = free and self._dropped(line.peer)
            else:
                done = not at and self._deed(line)
            if done:
                self._todo.remove(entry)
                return True
        return False

    async def _wait(self, patience: float, waited: float) -> None:
        """Wait until something happens. Raises Broken when it is too late, or nothing can happen any more."""
        entry = self._todo[0]
        optional = bool(entry.value) and entry.line.kind == "<" and entry.value[0].get("cmd") == "status"
        if waited >= (POLLED + self._extra if optional else patience):
            if not optional:
                raise self._missing(SILENCE.format(patience))
            self._skip(entry)
            return
        try:
            async with asyncio.timeout(SLICE):
                await self._harbour.stirred.wait()
        except TimeoutError:
            if self._program.status is not None:
                how = f"{ending(self._program.status)}{self._program.complaint()}"
                raise self._missing(f"the end of the program ({how})") from None

    def _skip(self, entry: Written) -> None:
        """A status was not asked for: neither is it answered."""
        at = self._todo.index(entry)
        answer = next((one for one in self._todo[at + 1 :] if one.line.peer == entry.line.peer), None)
        self._todo.remove(entry)
        if answer is not None and answer.line.kind == ">":
            self._todo.remove(answer)

    def _missing(self, what: str) -> Broken:
        """What is wrong if the first thing that is to come does not."""
        entry = next((one for one in self._todo if one.line.kind in {"<", "dropped"}), self._todo[0])
        if entry.line.kind == "dropped":
            return Broken(self._point, what, f"that it hangs up on {entry.line.peer!r}")
        if entry.line.kind != "<":
            return Broken(self._point, what, f"that {entry.line.peer or 'somebody'!r} can speak to it")
        link = self._links.get(entry.line.peer)
        rest = bytes(link.ear.rest) if link else b""
        if link is None:
            what = f"no connection to {entry.line.peer!r}, {what}"
        elif link.ended and what.startswith("nothing"):
            what = f"the end of the connection to {entry.line.peer!r}"
        return Broken(self._clause(entry), what, f"{shown(entry.value)} to {entry.line.peer!r}", got=rest)

    async def _quiet(self) -> None:
        """Nothing is said that is not on paper."""
        await asyncio.sleep(MOMENT)
        for name, link in self._links.items():
            while link.heard and name not in self._left:
                heard = link.heard.popleft()
                if heard.keys.get("cmd") not in {"status", "draw"}:
                    raise Broken(self._point, f"also {heard.told} to {name!r}", "nothing more", got=heard.data)

    # What happens.

    def _arrived(self, link: Link) -> None:
        """The program has called somebody, or somebody has reached it."""
        known = self._links.get(link.name)
        if known is None or known.ended or known.closed:
            self._links[link.name] = link

    def _dropped(self, name: str) -> bool:
        link = self._links.get(name)
        return link is not None and link.ended

    def _deed(self, line: Line) -> bool:
        if line.kind == "pass":
            self._extra = float(line.text) if float(line.text) > MOMENT else 0.0
        elif line.kind == "left":
            self._left.add(line.peer)
            self._harbour.shut(line.peer)
            if line.peer in self._links:
                self._links[line.peer].close()
        return True

    async def _say(self, entry: Written) -> bool:
        name = entry.line.peer
        if name not in self._links:
            if self._me is None or name == "table":
                return False
            if await self._harbour.call(name, self._me, self._patience) is None:
                raise Broken("oldmaid-3.17", f"nobody listens at {self._me[0]} {self._me[1]}", "the right neighbour")
        if not entry.answer and self._said not in {"", name}:
            await asyncio.sleep(SETTLED)
        self._said = name
        data = (
            self._raw(entry.said) or b" ".join(json.dumps(value).encode() for value in self._real(entry.value)) + b"\n"
        )
        for value in entry.value:
            if isinstance(value, dict) and value.get("cmd") == "offer" and type(value.get("num_cards")) is int:
                self._offered[name] = value["num_cards"]
        self._links[name].say(data)
        return True

    def _hear(self, entry: Written) -> bool:
        link = self._links.get(entry.line.peer)
        if link is None or not link.heard:
            return False
        heard = link.heard.popleft()
        self._said = ""
        (wanted,) = entry.value
        asked = heard.keys.get("cmd")
        if asked == "status" != wanted.get("cmd"):
            link.say(json.dumps(self._standing()).encode() + b"\n")
            return True
        if wanted.get("cmd") == "status" != asked:
            link.heard.appendleft(heard)
            self._skip(entry)
            return True
        self._todo.remove(entry)
        if isinstance(heard.message, Violation) and wanted.get("result") != "error":
            found = heard.message
            raise Broken(found.clause, found.found, found.allowed, got=heard.data, cause=self._spelt(link, heard))
        try:
            self._compare(entry, wanted, heard)
        except Broken as broken:
            broken.cause = self._spelt(link, heard)
            raise
        if isinstance(heard.message, Join):
            self._joined(link, heard.message)
        return True

    def _spelt(self, link: Link, heard: Heard) -> str:
        return spelt("table" if link.name == "table" else "player", heard)

    def _joined(self, link: Link, join: Join) -> None:
        self._harbour.me = join.nick
        self._me = (link.address[0], join.port or link.address[1])

    def _standing(self) -> dict[str, list[str]]:
        """How it stands, for a program that asks when nobody does on paper."""
        names = {entry.line.peer for entry in written(self._paper)} - {"table"}
        return {"in": [self._harbour.me or ME, *sorted(names)], "out": []}

    # On paper, and really.

    def _real(self, value: Any) -> Any:
        """A value of the paper with real addresses, and with the program's nick."""
        match value:
            case [str(host), int(port)] if type(port) is int:
                return self._address(host, port)
            case dict():
                return {key: self._real(inner) for key, inner in value.items()}
            case list() | tuple():
                return [self._real(inner) for inner in value]
            case str() if value == ME:
                return self._harbour.me or ME
            case str():
                return substitute(value, self._names)
        return value

    def _raw(self, said: bytes) -> bytes:
        """Bytes of the paper with real addresses."""

        def real(match: re.Match[bytes]) -> bytes:
            return json.dumps(self._address(match[1].decode(), int(match[2]))).encode()

        return LISTED.sub(real, said)

    def _address(self, host: str, port: int) -> list[object]:
        bare = host.removeprefix(MAPPED)
        real = self._me if bare.endswith(".10") else self._places.get((bare, port))
        if real is None:  # nobody listens there
            real = self._places[bare, port] = ("127.0.0.1", 1)
        return [host[: len(host) - len(bare)] + real[0], real[1]]

    def _compare(self, entry: Written, wanted: Mapping[str, Any], heard: Heard) -> None:
        """Raise Broken where what was heard is not what is on paper, as far as the protocol fixes it."""
        found = heard.keys
        if wanted.get("result") == "error":
            if found.get("result") != "error":
                clause = str(wanted.get("message", "")).partition(":")[0]
                raise Broken(clause, heard.told, "an error", got=heard.data)
            return
        clause = self._clause(entry)
        if wanted.get("cmd") != found.get("cmd") or wanted.get("result") != found.get("result"):
            raise Broken(clause, heard.told, shown(entry.value), got=heard.data)
        match wanted.get("cmd"):
            case "join":
                return
            case "pick":
                self._check_pick(entry, found, heard)
                return
            case "discard":
                self._check_discard(clause, wanted, found, heard)
                return
        names = dict(self._names)
        try:
            tree(wanted, {key: found[key] for key in wanted if key in found}, names, "the message")
        except Mismatch as error:
            raise Broken(clause, f"{heard.told} ({error})", shown(entry.value), got=heard.data) from None
        self._names = names

    def _check_pick(self, entry: Written, found: Mapping[str, Any], heard: Heard) -> None:
        number, count = found.get("card_num"), self._offered.get(entry.line.peer, 0)
        if type(number) is not int or not 0 <= number <= count:
            raise Broken("oldmaid-7.4", heard.told, f"a card_num of 0 to {count - 1}", got=heard.data)
        if number == count:
            self._departure = f"it picks card {count} of {count}, counted from 0"

    def _check_discard(self, clause: str, wanted: Mapping[str, Any], found: Mapping[str, Any], heard: Heard) -> None:
        cards = {tuple(card) for card in found.get("cards", ())}
        if cards != {tuple(card) for card in wanted["cards"]}:
            raise Broken(clause, heard.told, f"to throw away {wanted['cards']}", got=heard.data)
        last = str(found.get("last_cards", found.get("last_card", ""))).lower()
        if last and last != wanted["last_cards"]:
            self._choice = f"last_cards is {last} where ours has {wanted['last_cards']} (oldmaid-5.11)"

    @property
    def _point(self) -> str:
        return self._paper.clauses[0]

    def _clause(self, entry: Written) -> str:
        """The clause that is broken if this does not come."""
        (wanted,) = entry.value
        if wanted.get("result") == "error":
            return str(wanted.get("message", "")).partition(":")[0]
        kind = wanted.get("cmd") or ("card" if "card" in wanted else wanted.get("result"))
        natural = [f"oldmaid-{number}" for number in NATURAL.get(kind, ())]
        named = [clause for clause in self._paper.clauses if clause in natural]
        heard = [one for one in written(self._paper) if one.line.kind == "<"]
        late = entry.line.number >= heard[-min(3, len(heard))].line.number
        if late and not self._paper.clauses[0].startswith("oldmaid-1."):
            return named[0] if named else self._point
        return (named or natural or [self._point])[0]


def written(paper: Transcript) -> Iterator[Written]:
    """The lines of a paper; what is quoted has no values."""
    for line in paper.lines:
        if line.kind in "<>" and not QUOTED.fullmatch(line.text):
            found = values(line.text)
            first = found[0]
            yield Written(line, found, b"", isinstance(first, dict) and "cmd" not in first and bool(first))
        elif line.kind == ">":
            yield Written(line, [], quoted(line.text), line.peer == "table")
        else:
            yield Written(line, None, b"", False)


def shown(value: Any) -> str:
    """What is to be heard, for people."""
    return re.sub(r'"\$\w+"', "…", " ".join(json.dumps(one) for one in value))
