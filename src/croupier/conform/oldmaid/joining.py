"""Cases about who joins a table: the list, its order and its addresses, nicks, who waits and who leaves again."""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import replace
from ipaddress import ip_address
from typing import Final

from croupier.conform.oldmaid.asking import TableCase, case
from croupier.conform.oldmaid.findings import Broken, Chosen, Tolerated, Unseen
from croupier.conform.oldmaid.guest import MOMENT, Guest
from croupier.conform.oldmaid.tables import Scene
from croupier.rooms.oldmaid.lobby import MOST_KEPT
from croupier.rooms.oldmaid.rules import MOST
from croupier.rooms.oldmaid.wire import Draw, Join, Status

WINDOW: Final = 10.0
"""The seconds that a table waits for more than two players unless it is set otherwise (oldmaid-3.11)."""

GLANCE: Final = 2.0
"""As that is too long for a case, it is looked for so many seconds whether they are set to less."""

LONG: Final = 0.3
"""So many seconds a single player is watched."""


async def _unjoined(scene: Scene, nick: str, clause: str) -> Guest:
    """Somebody whose join is refused, for his nick. Raises Broken; a join that is taken is not answered."""
    guest = await scene.guest(nick)
    await _refused(guest, json.dumps({"cmd": "join", "nick": nick}).encode() + b"\n", clause)
    return guest


async def _refused(guest: Guest, said: bytes, clause: str) -> None:
    await guest.say(said)
    heard = await guest.hear(4 * MOMENT)
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
    heard = await other.hear(4 * MOMENT)
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
    heard = await guest.hear(2 * MOMENT)
    if heard is not None and not heard.error:
        raise Broken("oldmaid-3.9", heard.told, "one place for one connection", got=heard.data)
    sitting = await scene.fill([guest])
    if heard is None:
        answer = await guest.answer("oldmaid-3.14", "an error to the second join")
        if not answer.error:
            raise Broken("oldmaid-3.14", answer.told, "an error to the second join", got=answer.data)
    if len(sitting.guests) < scene.players:
        raise Broken("oldmaid-3.9", f"a game of {len(sitting.guests)}", f"one of {scene.players}")


async def window(scene: Scene) -> None:
    """Two do not wait for ever."""
    await scene.survey(3)
    guests = [await scene.waiting(), await scene.waiting()]
    longest = scene.tables.patience.longest
    seconds = longest if longest > WINDOW else min(longest, GLANCE)
    heard = await guests[1].hear(seconds)
    if heard is None:
        raise Unseen(f"two have waited {seconds:g} seconds, and no game has started yet")
    await scene.listed(guests, heard, guests[1])


async def alone(scene: Scene) -> None:
    """A single player waits."""
    await scene.survey()
    guest = await scene.waiting()
    await guest.quiet("oldmaid-3.11", LONG)
    await scene.fill([guest])


async def blocks(scene: Scene) -> None:
    """Nobody is told anything before the game starts."""
    await scene.survey()
    guests = [await scene.waiting() for _ in range(scene.players - 1)]
    for guest in guests:
        await guest.quiet("oldmaid-3.2")
    await scene.fill(guests)


async def greets_nobody(scene: Scene) -> None:
    """The table does not speak first."""
    guest = await scene.guest()
    await guest.quiet("oldmaid-1.8", 2 * MOMENT)


async def leaves(scene: Scene) -> None:
    """Who leaves before the start frees his nick."""
    await scene.survey()
    one = await scene.waiting()
    one.hang_up()
    await asyncio.sleep(MOMENT)
    other = await scene.waiting(one.nick)
    heard = await other.hear(MOMENT)
    if heard is not None:
        wanted = f"the nick of somebody who has left, {one.nick!r}, to be free"
        raise Broken("oldmaid-3.12", heard.told, wanted, got=heard.data)
    await scene.fill([other])


async def moves_up(scene: Scene) -> None:
    """Those behind who has left move up, and he is not listed."""
    await scene.survey(3)
    one, other = await scene.waiting(), await scene.waiting()
    one.hang_up()
    await asyncio.sleep(MOMENT)
    sitting = await scene.fill([other])
    if sitting.guests[0] is not other:
        found = ", ".join(guest.nick for guest in sitting.guests)
        raise Broken("oldmaid-3.12", f"the order {found}", f"{other.nick!r} first, for who was before him has left")


async def two_games(scene: Scene) -> None:
    """Two games are played at the same time, each with its own deck."""
    sittings = [await scene.sit(), await scene.sit()]
    for count in range(1, 54):
        for sitting in sittings:
            await sitting.draw(count)


async def joins_late(scene: Scene) -> None:
    """Who joins after the start waits for the next game."""
    sitting = await scene.sit()
    guest = await scene.waiting()
    await guest.quiet("oldmaid-3.13")
    await sitting.draw(4)
    following = await scene.fill([guest])
    await following.draw(4)
    await sitting.draw(8)


async def joins_again(scene: Scene) -> None:
    """When a game is over its players may join again."""
    sitting = await scene.sit()
    await sitting.draw()
    await sitting.play()
    await _again(scene, sitting.guests[sitting.game.finished[0]])


async def joins_when_out(scene: Scene) -> None:
    """Who is out may join the next game while the others play on."""
    sitting = await scene.sit(3)
    await sitting.draw()
    await sitting.play(lambda: bool(sitting.game.finished))
    await _again(scene, sitting.guests[sitting.game.finished[0]])
    await sitting.play()


async def _again(scene: Scene, guest: Guest) -> None:
    guest.referee, guest.nick = None, scene.nick()
    await guest.say(Join(guest.nick))
    heard = await guest.hear(MOMENT)
    if heard is not None:
        raise Broken("oldmaid-3.14", heard.told, "that who is out may join the next game", got=heard.data)
    sitting = await scene.fill([guest])
    await sitting.draw(len(sitting.guests))


async def kept(scene: Scene) -> None:
    """Requests that come behind a join are answered behind it."""
    await scene.survey()
    guest = await scene.waiting()
    await guest.say(Draw())
    await guest.say(Status())
    early = await guest.hear(MOMENT)
    if early is not None:
        raise Broken("oldmaid-3.15", f"{early.told} before the game", "the answer behind that to join", got=early.data)
    await scene.fill([guest])
    for request in (Draw(), Status()):
        guest.note(request)
        guest.judged(request, await guest.answer("oldmaid-3.15", f"the answer to {request}, which was sent ahead"))


async def too_much(scene: Scene) -> None:
    """What is sent ahead is not kept without a limit."""
    await scene.survey()
    guest = await scene.waiting()
    for _ in range(MOST_KEPT + 1):
        await guest.say(Draw())
    heard = await guest.hear(2 * MOMENT)
    if heard is None and not guest.gone:
        raise Broken("oldmaid-3.15", f"nothing to {MOST_KEPT + 1} requests behind a join", "an error, and the end")


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
        case("3.2", "join-blocks", "Nobody is told anything before the game starts", blocks),
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
        case("3.11", "alone", "A single player waits", alone),
        case("3.12", "nick-is-free", "Who leaves before the start frees his nick", leaves),
        case("3.12", "moves-up", "Those behind who leaves before the start move up", moves_up),
        case("3.13", "two-games", "Two games are played at the same time, each with its own deck", two_games),
        case("3.13", "joins-late", "Who joins after the start waits for the next game", joins_late),
        case("3.14", "joins-again", "When a game is over its players may join again", joins_again, free=True),
        case("3.14", "joins-when-out", "Who is out may join the next game", joins_when_out, free=True),
        case("3.15", "kept", "Requests sent ahead wait behind the join, and are answered behind it", kept),
        case("3.15", "too-much", "Who sends too much ahead is dropped", too_much, free=True),
        case("1.8", "greets-nobody", "The table does not speak first", greets_nobody),
    )


def last() -> Sequence[TableCase]:
    """The case that takes its time."""
    return (case("3.11", "window", "Two players need not wait for the others for ever", window, alone=True),)
