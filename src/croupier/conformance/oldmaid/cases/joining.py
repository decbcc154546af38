"""Cases about who joins a table: the list, its order and its addresses, and nicks."""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import replace
from ipaddress import ip_address
from typing import Final

from croupier.conformance.oldmaid.cases.requests import TableCase, case
from croupier.conformance.oldmaid.findings import Broken, Chosen, Tolerated, Unseen
from croupier.conformance.oldmaid.scripted_player import MOMENT, Guest
from croupier.conformance.oldmaid.tables import Scene
from croupier.rooms.oldmaid.rules import MOST
from croupier.rooms.oldmaid.wire import Join


async def _unjoined(scene: Scene, nick: str, clause: str) -> Guest:
    """Somebody whose join is refused, for his nick. Raises Broken; a join that is taken is not answered."""
    guest = await scene.guest(nick)
    await _refused(guest, json.dumps({"cmd": "join", "nick": nick}).encode() + b"\n", clause)
    return guest


async def _refused(guest: Guest, said: bytes, clause: str) -> None:
    await guest.say(said)
    heard = await guest.reaction()
    if heard is None:
        raise Broken(clause, f"nothing, as if it were right, to {said.decode().strip()}", "an error")
    if not heard.error:
        raise Broken(clause, heard.told, "an error", got=heard.data)


async def join(scene: Scene) -> None:
    """Everybody who joins gets the list."""
    await scene.sit()


async def order(scene: Scene) -> None:
    """The list has them in the order in which they came, with time between them."""
    await scene.survey()
    waiting = []
    for _ in range(scene.players - 1):
        waiting.append(await scene.waiting())
        await asyncio.sleep(MOMENT / 2)
    sitting = await scene.fill(waiting)
    wanted, found = [guest.nick for guest in waiting], [guest.nick for guest in sitting.guests]
    if found[: len(wanted)] != wanted:
        raise Broken("oldmaid-3.3", f"the order {', '.join(found)}", f"that of joining: {', '.join(wanted)} first")


async def form(scene: Scene) -> None:
    """The list is an object with player1, player2, …"""
    sitting = await scene.sit()
    if scene.tables.dialect == "njaal":
        raise Unseen("the table is expected to speak as the one on njaal did")
    if any("oldmaid-10.2" in guest.departures for guest in sitting.guests):
        raise Tolerated("the players are listed in an array, as the table on njaal did: the dialect njaal")


async def njaal(scene: Scene) -> None:
    """The list is an array, in that dialect."""
    sitting = await scene.sit()
    if scene.tables.dialect == "document":
        raise Unseen("the table is expected to speak as the document has it")
    if any("oldmaid-10.2" in guest.departures for guest in sitting.guests):
        raise Tolerated("the players are listed in an object, as the document has it")


async def addresses(scene: Scene) -> None:
    """Everybody is listed where his connection comes from."""
    sitting = await scene.sit()
    for guest in sitting.guests:
        listed = {nick: address for address, nick in sitting.listed}[guest.nick]
        if listed != guest.address:
            if listed[0] != guest.address[0] and not ip_address(guest.address[0]).is_loopback:
                raise Unseen(f"between us and the table addresses are translated: {guest.address[0]} to {listed[0]}")
            found, wanted = (f"{address[0]} {address[1]}" for address in (listed, guest.address))
            raise Broken("oldmaid-3.4", f"the address {found}", f"{wanted}, where the connection comes from")


async def plain_addresses(scene: Scene) -> None:
    """An address of IPv4 is listed as one."""
    sitting = await scene.sit()
    if any("oldmaid-3.6" in guest.departures for guest in sitting.guests):
        raise Tolerated("addresses are listed with ::ffff: before them")


async def port(scene: Scene) -> None:
    """What the table makes of a port that is told."""
    await scene.survey()
    guest = await scene.guest()
    await guest.say(Join(guest.nick, 4099))
    heard = await guest.hear(MOMENT)
    if heard is not None and heard.error:
        raise Chosen("a join with a port is refused")
    sitting = await scene.fill([guest])
    listed = next(address for address, nick in sitting.listed if nick == guest.nick)
    if listed[1] == guest.address[1]:
        raise Chosen("the port that a join names is ignored: the one that the connection comes from is listed")
    if listed[1] != 4099:
        raise Broken("oldmaid-3.5", f"the port {listed[1]}", f"4099, which was named, or {guest.address[1]}")
    raise Chosen("the port that a join names is listed")


async def port_that_is_none(scene: Scene) -> None:
    """A port is 1 to 65535."""
    for none in (0, 65536, -1, "4099", 4099.5):
        guest = await scene.guest()
        said = {"cmd": "join", "nick": guest.nick, "port": none}
        await _refused(guest, json.dumps(said).encode() + b"\n", "oldmaid-3.5")


async def port_taken(scene: Scene) -> None:
    """No two are reached at the same place."""
    await scene.survey(3)
    one, other = await scene.guest(), await scene.guest()
    for guest in (one, other):
        await guest.say(Join(guest.nick, 4099))
        await asyncio.sleep(MOMENT / 2)
    refused = await other.hear(MOMENT)
    if refused is None:
        raise Chosen("two players may name the same port, or it is ignored")
    if not refused.error:
        raise Broken("oldmaid-3.9", refused.told, "an error, or nothing before the game", got=refused.data)


class _Nick:
    """A case in which somebody joins with a nick that is none."""

    def __init__(self, nick: str) -> None:
        self._nick = nick

    async def __call__(self, scene: Scene) -> None:
        await scene.survey()
        await _unjoined(scene, self._nick, "oldmaid-3.7")


class _Named:
    """A case in which somebody joins with a nick that is right, however odd; `{}` is where it is made fresh."""

    def __init__(self, nick: str) -> None:
        self._nick = nick

    async def __call__(self, scene: Scene) -> None:
        nick = self._nick.replace("{}", scene.nick())
        await scene.survey()
        guest = await scene.waiting(nick)
        heard = await guest.hear(MOMENT)
        if heard is not None and heard.error:
            raise Broken("oldmaid-3.7", heard.told, f"the nick {nick!r}", got=heard.data)
        await scene.fill([guest] if heard is None else [])


async def nick_taken(scene: Scene) -> None:
    """A nick is taken once, and then another one will do."""
    await scene.survey()
    one = await scene.waiting()
    other = await _unjoined(scene, one.nick, "oldmaid-3.8")
    other.nick = scene.nick()
    await other.say(Join(other.nick))
    await scene.fill([one, other])


async def another_nick(scene: Scene) -> None:
    """Who is refused for his nick may join with another one on the same connection."""
    await scene.survey()
    one = await scene.waiting()
    other = await scene.guest(one.nick)
    await other.say(Join(one.nick))
    heard = await other.reaction()
    if heard is None or not heard.error:
        raise Unseen("the nick of somebody else is not refused")
    other.nick = scene.nick()
    await other.say(Join(other.nick))
    late = await other.hear(MOMENT)
    if other.gone or (late is not None and late.error):
        what = "the end of the connection" if late is None else late.told
        raise Broken("oldmaid-3.18", what, "that another nick is taken")
    if late is None:
        await scene.fill([one, other])


async def nick_elsewhere(scene: Scene) -> None:
    """In two games there may be the same nick."""
    sitting = await scene.sit()
    guest = await scene.waiting(sitting.guests[0].nick)
    heard = await guest.hear(MOMENT)
    if heard is not None and heard.error:
        raise Broken("oldmaid-3.8", heard.told, "a nick of a game that is running, in the next game", got=heard.data)
    await scene.fill([guest] if heard is None else [])


async def joins_twice(scene: Scene) -> None:
    """One connection has one place."""
    await scene.survey()
    guest = await scene.waiting()
    await guest.say(Join(scene.nick()))
    heard = await guest.reaction()
    if heard is not None and not heard.error:
        raise Broken("oldmaid-3.9", heard.told, "one place for one connection", got=heard.data)
    sitting = await scene.fill([guest])
    if heard is None:
        answer = await guest.answer("oldmaid-3.14", "an error to the second join")
        if not answer.error:
            raise Broken("oldmaid-3.14", answer.told, "an error to the second join", got=answer.data)
    if len(sitting.guests) < scene.players:
        raise Broken("oldmaid-3.9", f"a game of {len(sitting.guests)}", f"one of {scene.players}")


async def greets_nobody(scene: Scene) -> None:
    """The table does not speak first."""
    guest = await scene.guest()
    await guest.quiet("oldmaid-1.8", 2 * MOMENT)


ODD: Final = (
    ("letters-of-the-world", "{} Ægir ♠", "A nick may have any letters, for messages are UTF-8"),
    ("brackets", '{}}{][\\"}', "Brackets and quotes within a nick do not end a message"),
    ("long-nick", "{}" + 44 * "x", "A nick may be long"),
)


def cases() -> Sequence[TableCase]:
    """Every case about joining."""
    return [replace(found, alone=True) for found in _cases()]


def _cases() -> Sequence[TableCase]:
    return (
        case("3.1", "join", "Who joins, plays", join),
        case("3.10", "game-starts", f"A game starts with 2 to {MOST} players", join),
        case("3.2", "same-list", "All players of a game get the same list", join),
        case("3.3", "order", "The players are listed in the order in which they have joined", order),
        case("3.3", "form", "The list is an object with the keys player1, player2, …", form),
        case("10.1", "form", "njaal: the list is an array", njaal),
        case("3.4", "addresses", "A player is listed where his connection comes from", addresses),
        case("3.6", "plain-addresses", "The table lists an IPv4 address in its own form", plain_addresses),
        case("3.5", "port", "What becomes of a port that a join names", port),
        case("3.5", "port-that-is-none", "A port is 1 to 65535", port_that_is_none, free=True),
        case("3.9", "port-taken", "No two players name the same port", port_taken, free=True),
        case("3.9", "joins-twice", "Who has joined has one place", joins_twice),
        case("3.7", "empty", "An empty nick is refused", _Nick(""), free=True),
        case("3.7", "65-characters", "A nick of 65 characters is refused", _Nick(65 * "x"), free=True),
        case("3.7", "control-characters", "A nick with control characters is refused", _Nick("a\x1b[2J"), free=True),
        *(case("3.7", slug, title, _Named(nick), free=slug == "long-nick") for slug, nick, title in ODD),
        case("3.8", "nick-taken", "A nick is taken once in a game", nick_taken),
        case("3.8", "nick-elsewhere", "Players of two games may have the same nick", nick_elsewhere),
        case("3.18", "another-nick", "Who is refused for his nick may join with another one", another_nick),
        case("1.8", "greets-nobody", "The table does not speak first", greets_nobody),
    )
