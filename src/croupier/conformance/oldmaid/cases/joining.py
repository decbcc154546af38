"""Cases about who joins a table: the list, its order and its addresses, and nicks."""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import replace
from ipaddress import ip_address
from typing import Final

from croupier.conformance.oldmaid.cases.requests import TableCase, table_case
from croupier.conformance.oldmaid.outcomes import Failed, ImplementationChoice, NonStrict, NotReached
from croupier.conformance.oldmaid.scripted_player import QUIET_SECONDS, ScriptedPlayer
from croupier.conformance.oldmaid.table_context import TableContext
from croupier.rooms.oldmaid.rules import MAX_PLAYERS
from croupier.rooms.oldmaid.wire import Join


async def _refused_join(context: TableContext, nick: str, clause: str) -> ScriptedPlayer:
    """Somebody whose join is refused, for his nick. Raises Broken; a join that is taken is not answered."""
    guest = await context.connect_player(nick)
    await _require_error(guest, json.dumps({"cmd": "join", "nick": nick}).encode() + b"\n", clause)
    return guest


async def _require_error(player: ScriptedPlayer, said: bytes, clause: str) -> None:
    await player.send(said)
    heard = await player.receive_optional_answer()
    if heard is None:
        raise Failed(clause, f"nothing, as if it were right, to {said.decode().strip()}", "an error")
    if not heard.is_error:
        raise Failed(clause, heard.text, "an error", got=heard.data)


async def players_join(context: TableContext) -> None:
    """Everybody who joins gets the list."""
    await context.start_game()


async def join_order(context: TableContext) -> None:
    """The list has them in the order in which they came, with time between them."""
    await context.learn_table_size()
    waiting = []
    for _ in range(context.table_size - 1):
        waiting.append(await context.join_player())
        await asyncio.sleep(QUIET_SECONDS / 2)
    sitting = await context.start_game_with(waiting)
    wanted, found = [guest.nick for guest in waiting], [guest.nick for guest in sitting.players]
    if found[: len(wanted)] != wanted:
        raise Failed("oldmaid-3.3", f"the order {', '.join(found)}", f"that of joining: {', '.join(wanted)} first")


async def list_is_object(context: TableContext) -> None:
    """The list is an object with player1, player2, …"""
    sitting = await context.start_game()
    if context.table.dialect == "njaal":
        raise NotReached("the table is expected to speak as the one on njaal did")
    if any("oldmaid-10.2" in guest.tolerated for guest in sitting.players):
        raise NonStrict("the players are listed in an array, as the table on njaal did: the dialect njaal")


async def list_is_array(context: TableContext) -> None:
    """The list is an array, in that dialect."""
    sitting = await context.start_game()
    if context.table.dialect == "document":
        raise NotReached("the table is expected to speak as the document has it")
    if any("oldmaid-10.2" in guest.tolerated for guest in sitting.players):
        raise NonStrict("the players are listed in an object, as the document has it")


async def listed_addresses(context: TableContext) -> None:
    """Everybody is listed where his connection comes from."""
    sitting = await context.start_game()
    for guest in sitting.players:
        listed = {nick: address for address, nick in sitting.listed}[guest.nick]
        if listed != guest.address:
            if listed[0] != guest.address[0] and not ip_address(guest.address[0]).is_loopback:
                raise NotReached(
                    f"between us and the table addresses are translated: {guest.address[0]} to {listed[0]}"
                )
            found, wanted = (f"{address[0]} {address[1]}" for address in (listed, guest.address))
            raise Failed("oldmaid-3.4", f"the address {found}", f"{wanted}, where the connection comes from")


async def listed_ipv4_form(context: TableContext) -> None:
    """An address of IPv4 is listed as one."""
    sitting = await context.start_game()
    if any("oldmaid-3.6" in guest.tolerated for guest in sitting.players):
        raise NonStrict("addresses are listed with ::ffff: before them")


async def named_port(context: TableContext) -> None:
    """What the table makes of a port that is told."""
    await context.learn_table_size()
    guest = await context.connect_player()
    await guest.send(Join(guest.nick, 4099))
    heard = await guest.receive(QUIET_SECONDS)
    if heard is not None and heard.is_error:
        raise ImplementationChoice("a join with a port is refused")
    sitting = await context.start_game_with([guest])
    listed = next(address for address, nick in sitting.listed if nick == guest.nick)
    if listed[1] == guest.address[1]:
        raise ImplementationChoice(
            "the port that a join names is ignored: the one that the connection comes from is listed"
        )
    if listed[1] != 4099:
        raise Failed("oldmaid-3.5", f"the port {listed[1]}", f"4099, which was named, or {guest.address[1]}")
    raise ImplementationChoice("the port that a join names is listed")


async def invalid_port(context: TableContext) -> None:
    """A port is 1 to 65535."""
    for none in (0, 65536, -1, "4099", 4099.5):
        guest = await context.connect_player()
        said = {"cmd": "join", "nick": guest.nick, "port": none}
        await _require_error(guest, json.dumps(said).encode() + b"\n", "oldmaid-3.5")


async def port_taken(context: TableContext) -> None:
    """No two are reached at the same place."""
    await context.learn_table_size(3)
    one, other = await context.connect_player(), await context.connect_player()
    for guest in (one, other):
        await guest.send(Join(guest.nick, 4099))
        await asyncio.sleep(QUIET_SECONDS / 2)
    refused = await other.receive(QUIET_SECONDS)
    if refused is None:
        raise ImplementationChoice("two players may name the same port, or it is ignored")
    if not refused.is_error:
        raise Failed("oldmaid-3.9", refused.text, "an error, or nothing before the game", got=refused.data)


class _RefusedNick:
    """A case in which somebody joins with a nick that is none."""

    def __init__(self, nick: str) -> None:
        self._nick = nick

    async def __call__(self, context: TableContext) -> None:
        await context.learn_table_size()
        await _refused_join(context, self._nick, "oldmaid-3.7")


class _AcceptedNick:
    """A case in which somebody joins with a nick that is right, however odd; `{}` is where it is made fresh."""

    def __init__(self, nick: str) -> None:
        self._nick = nick

    async def __call__(self, context: TableContext) -> None:
        nick = self._nick.replace("{}", context.new_nick())
        await context.learn_table_size()
        guest = await context.join_player(nick)
        heard = await guest.receive(QUIET_SECONDS)
        if heard is not None and heard.is_error:
            raise Failed("oldmaid-3.7", heard.text, f"the nick {nick!r}", got=heard.data)
        await context.start_game_with([guest] if heard is None else [])


async def nick_taken(context: TableContext) -> None:
    """A nick is taken once, and then another one will do."""
    await context.learn_table_size()
    one = await context.join_player()
    other = await _refused_join(context, one.nick, "oldmaid-3.8")
    other.nick = context.new_nick()
    await other.send(Join(other.nick))
    await context.start_game_with([one, other])


async def join_with_another_nick(context: TableContext) -> None:
    """Who is refused for his nick may join with another one on the same connection."""
    await context.learn_table_size()
    one = await context.join_player()
    other = await context.connect_player(one.nick)
    await other.send(Join(one.nick))
    heard = await other.receive_optional_answer()
    if heard is None or not heard.is_error:
        raise NotReached("the nick of somebody else is not refused")
    other.nick = context.new_nick()
    await other.send(Join(other.nick))
    late = await other.receive(QUIET_SECONDS)
    if other.is_disconnected or (late is not None and late.is_error):
        what = "the end of the connection" if late is None else late.text
        raise Failed("oldmaid-3.18", what, "that another nick is taken")
    if late is None:
        await context.start_game_with([one, other])


async def nick_in_another_game(context: TableContext) -> None:
    """In two games there may be the same nick."""
    sitting = await context.start_game()
    guest = await context.join_player(sitting.players[0].nick)
    heard = await guest.receive(QUIET_SECONDS)
    if heard is not None and heard.is_error:
        raise Failed("oldmaid-3.8", heard.text, "a nick of a game that is running, in the next game", got=heard.data)
    await context.start_game_with([guest] if heard is None else [])


async def joins_twice(context: TableContext) -> None:
    """One connection has one place."""
    await context.learn_table_size()
    guest = await context.join_player()
    await guest.send(Join(context.new_nick()))
    heard = await guest.receive_optional_answer()
    if heard is not None and not heard.is_error:
        raise Failed("oldmaid-3.9", heard.text, "one place for one connection", got=heard.data)
    sitting = await context.start_game_with([guest])
    if heard is None:
        answer = await guest.receive_answer("oldmaid-3.14", "an error to the second join")
        if not answer.is_error:
            raise Failed("oldmaid-3.14", answer.text, "an error to the second join", got=answer.data)
    if len(sitting.players) < context.table_size:
        raise Failed("oldmaid-3.9", f"a game of {len(sitting.players)}", f"one of {context.table_size}")


async def table_is_silent_first(context: TableContext) -> None:
    """The table does not speak first."""
    guest = await context.connect_player()
    await guest.require_silence("oldmaid-1.8", 2 * QUIET_SECONDS)


UNUSUAL_NICKS: Final = (
    ("letters-of-the-world", "{} Ægir ♠", "A nick may have any letters, for messages are UTF-8"),
    ("brackets", '{}}{][\\"}', "Brackets and quotes within a nick do not end a message"),
    ("long-nick", "{}" + 44 * "x", "A nick may be long"),
)


def cases() -> Sequence[TableCase]:
    """Every case about joining."""
    return [replace(found, needs_whole_lobby=True) for found in _all_cases()]


def _all_cases() -> Sequence[TableCase]:
    return (
        table_case("3.1", "join", "Who joins, plays", players_join),
        table_case("3.10", "game-starts", f"A game starts with 2 to {MAX_PLAYERS} players", players_join),
        table_case("3.2", "same-list", "All players of a game get the same list", players_join),
        table_case("3.3", "order", "The players are listed in the order in which they have joined", join_order),
        table_case("3.3", "form", "The list is an object with the keys player1, player2, …", list_is_object),
        table_case("10.1", "form", "njaal: the list is an array", list_is_array),
        table_case("3.4", "addresses", "A player is listed where his connection comes from", listed_addresses),
        table_case("3.6", "plain-addresses", "The table lists an IPv4 address in its own form", listed_ipv4_form),
        table_case("3.5", "port", "What becomes of a port that a join names", named_port),
        table_case("3.5", "port-that-is-none", "A port is 1 to 65535", invalid_port, failure_is_choice=True),
        table_case("3.9", "port-taken", "No two players name the same port", port_taken, failure_is_choice=True),
        table_case("3.9", "joins-twice", "Who has joined has one place", joins_twice),
        table_case("3.7", "empty", "An empty nick is refused", _RefusedNick(""), failure_is_choice=True),
        table_case(
            "3.7", "65-characters", "A nick of 65 characters is refused", _RefusedNick(65 * "x"), failure_is_choice=True
        ),
        table_case(
            "3.7",
            "control-characters",
            "A nick with control characters is refused",
            _RefusedNick("a\x1b[2J"),
            failure_is_choice=True,
        ),
        *(
            table_case("3.7", slug, title, _AcceptedNick(nick), failure_is_choice=slug == "long-nick")
            for slug, nick, title in UNUSUAL_NICKS
        ),
        table_case("3.8", "nick-taken", "A nick is taken once in a game", nick_taken),
        table_case("3.8", "nick-elsewhere", "Players of two games may have the same nick", nick_in_another_game),
        table_case(
            "3.18", "another-nick", "Who is refused for his nick may join with another one", join_with_another_nick
        ),
        table_case("1.8", "greets-nobody", "The table does not speak first", table_is_silent_first),
    )
