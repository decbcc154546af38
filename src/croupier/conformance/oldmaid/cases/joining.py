"""Table cases about joining: the list of players, its order and addresses, and nicks."""

import asyncio
from collections.abc import Sequence
from functools import partial
from ipaddress import ip_address
from typing import Final

from croupier.conformance.case import CaseList
from croupier.conformance.deviations import NotReached
from croupier.conformance.diagnosis.cause import Cause
from croupier.conformance.oldmaid.case import OldMaidCase, TableCase
from croupier.conformance.oldmaid.driven_game import DrivenGame
from croupier.conformance.oldmaid.outcomes import Failed, NonStrict
from croupier.conformance.oldmaid.scripted_player import QUIET_SECONDS, ScriptedPlayer, require_refusal
from croupier.conformance.oldmaid.table_context import SEAT_CLAUSE, TableContext
from croupier.core.session import Address
from croupier.rooms.oldmaid.rules import MAX_PLAYERS
from croupier.rooms.oldmaid.wire import Dialect, Join

CASES: Final = CaseList[TableCase](OldMaidCase, "oldmaid", needs_whole_lobby=True)

CONSEQUENCE_RANK: Final = 2
"""A port stays taken also where the table does not notice that players are gone, of which there are other cases."""

ADDRESS_RANK: Final = -2
"""A table that has a wrong address of a player may find it taken by another one: that shows first."""

FREE_TRIES: Final = 10
"""How often a port is named again until the table has noticed that all players of a game are gone."""

MIN_NAMED_PORT: Final = 5000

BRACKETS: Final = frozenset('{}[]"\\')
BRACKETS_CAUSE: Final = Cause("it looks for the end of a message within strings, too", clause="oldmaid-1.7")

PIPELINING_RANK: Final = 1
"""Requests after a join follow the simpler cases about several messages at once."""


def _listed_address(game: DrivenGame, player: ScriptedPlayer, clause: str = "oldmaid-3.1") -> Address:
    """Return the address at which a player is listed. Raises Failed if its join was neither refused nor followed."""
    for address, nick in game.listed:
        if nick == player.nick:
            return address
    raise Failed(clause, f"no {player.nick!r} in the list, and no error", "the player that has joined")


@CASES.add("3.10", "game-starts", f"A game starts with 2 to {MAX_PLAYERS} players")
@CASES.add("3.2", "same-list", "All players of a game get the same list")
async def players_join(context: TableContext) -> None:
    """All players who join get the list."""
    await context.start_game()


@CASES.add("3.3", "order", "The players are listed in the order in which they draw")
async def _seat_order(context: TableContext) -> None:
    _, driven_game = await _join_against_the_alphabet(context)
    context.release_lobby()
    await driven_game.draw(len(driven_game.players))


@CASES.add("3.20", "order", "The players sit in the order in which they have joined")
async def _join_order(context: TableContext) -> None:
    waiting, driven_game = await _join_against_the_alphabet(context)
    wanted, found = [player.nick for player in waiting], [player.nick for player in driven_game.players]
    if found[: len(wanted)] != wanted:
        raise Failed(SEAT_CLAUSE, f"the order {', '.join(found)}", f"that of joining: {', '.join(wanted)} first")


async def _join_against_the_alphabet(context: TableContext) -> tuple[Sequence[ScriptedPlayer], DrivenGame]:
    """Return the players that have joined in a certain order, and their game."""
    await context.learn_table_size()
    waiting = []
    for number in range(context.table_size - 1):
        nick = f"{'zyxwvuts'[number]}-{context.new_nick()}"  # not the order of the alphabet
        waiting.append(await context.join_player(nick))
        await asyncio.sleep(QUIET_SECONDS / 2)
    return waiting, await context.start_game_with(waiting)


async def _form_of_list(dialect: Dialect, other_form: str, context: TableContext) -> None:
    """The list has the form of the dialect, at a table that is expected to speak it."""
    driven_game = await context.start_game()
    if context.table.dialect != dialect:
        raise NotReached(f"the table is expected to speak the dialect {context.table.dialect}")
    if any("oldmaid-10.2" in player.tolerated for player in driven_game.players):
        raise NonStrict(other_form)


CASES.add("3.3", "form", "The list is an object with the keys player1, player2, …")(
    partial(
        _form_of_list, "document", "the players are listed in an array, as the table on njaal did: the dialect njaal"
    )
)
CASES.add("10.1", "form", "njaal: the list is an array")(
    partial(_form_of_list, "njaal", "the players are listed in an object, as the document has it")
)


@CASES.add("3.4", "addresses", "A player is listed with the address of its connection", rank=ADDRESS_RANK)
async def _listed_addresses(context: TableContext) -> None:
    driven_game = await context.start_game()
    for player in driven_game.players:
        listed = _listed_address(driven_game, player)
        if listed != player.address:
            if listed[0] != player.address[0] and not ip_address(player.address[0]).is_loopback:
                raise NotReached(
                    f"between us and the table addresses are translated: {player.address[0]} to {listed[0]}"
                )
            found, wanted = (f"{address[0]} {address[1]}" for address in (listed, player.address))
            raise Failed("oldmaid-3.4", f"the address {found}", f"{wanted}, where the connection comes from")


@CASES.add("3.6", "plain-addresses", "The table lists an IPv4 address in its own form")
async def _listed_ipv4_form(context: TableContext) -> None:
    driven_game = await context.start_game()
    if any("oldmaid-3.6" in player.tolerated for player in driven_game.players):
        raise NonStrict("addresses are listed with ::ffff: before them")


@CASES.add("3.5", "port", "The port that a join names is listed")
async def _named_port(context: TableContext) -> None:
    await context.learn_table_size()
    player = await context.connect_player()
    await player.send(Join(player.nick, 4099))
    answer = await player.receive(QUIET_SECONDS)
    if answer is not None and answer.is_error:
        if context.table.strict:
            return
        raise NonStrict("a join with a port is refused, which the protocol tolerates")
    driven_game = await context.start_game_with([player])
    listed = _listed_address(driven_game, player)
    if listed[1] == player.address[1]:
        raise NonStrict("the port that a join names is ignored: the one that the connection comes from is listed")
    if listed[1] != 4099:
        raise Failed("oldmaid-3.5", f"the port {listed[1]}", f"4099, which was named, or {player.address[1]}")


@CASES.add("3.5", "port-that-is-none", "A port is 1 to 65535", failure_is_choice=True)
async def _invalid_port(context: TableContext) -> None:
    for port in (0, 65536, -1, "4099", 4099.5):
        await (await context.connect_player()).require_refused_join("oldmaid-3.5", port=port)


@CASES.add("3.9", "port-taken", "No two players name the same port")
async def _port_taken(context: TableContext) -> None:
    await context.learn_table_size(3)
    first, second = await context.connect_player(), await context.connect_player()
    for player in (first, second):
        await player.send(Join(player.nick, 4099))
        await asyncio.sleep(QUIET_SECONDS / 2)
    refused = await second.receive_optional_answer()
    if refused is None:
        driven_game = await context.start_game_with([first, second])
        host, port = address = _listed_address(driven_game, first)
        if address == _listed_address(driven_game, second, "oldmaid-3.9"):
            raise Failed("oldmaid-3.9", f"two players at {host} {port}", "an error to the second join of this address")
        raise NonStrict("the port that a join names is ignored")
    require_refusal(Join(second.nick, 4099), refused, "oldmaid-3.9")


async def _refused_nick(nick: str, context: TableContext) -> None:
    """A join with an invalid nick is refused."""
    await context.learn_table_size()
    await (await context.connect_player(nick)).require_refused_join("oldmaid-3.7", nick=nick)


async def _accepted_nick(pattern: str, context: TableContext) -> None:
    """A join with an unusual, valid nick is accepted; `{}` stands for a unique part."""
    nick = pattern.replace("{}", context.new_nick())
    await context.learn_table_size()
    try:
        waiting = await context.require_accepted_join("oldmaid-3.7", f"the nick {nick!r}", nick)
    except Failed as failed:
        is_its_nick = failed.failure.clause == "oldmaid-3.7"
        if is_its_nick and BRACKETS.intersection(nick) and await _accepts_escaped(nick, context):
            failed.amend(clause="oldmaid-1.7", cause=BRACKETS_CAUSE)
        raise
    await context.start_game_with(waiting)


async def _accepts_escaped(nick: str, context: TableContext) -> bool:
    """Whether a nick with its brackets and quotes as escapes is not refused: then they do not end up in the framing."""
    player = await context.connect_player(nick)
    letters = "".join(f"\\u{ord(one):04x}" if one in BRACKETS else one for one in nick)
    await player.send(f'{{"cmd": "join", "nick": "{letters}"}}\n'.encode())
    answer = await player.receive_optional_answer()
    return not (player.is_disconnected or (answer is not None and answer.is_error))


@CASES.add("3.9", "free-again", "A port that was named in a game that is over is free again", rank=CONSEQUENCE_RANK)
async def _port_free_again(context: TableContext) -> None:
    await context.learn_table_size()
    port = context.random.randrange(MIN_NAMED_PORT, 1 << 16)  # other cases may have named the usual one
    first = await context.connect_player()
    await first.send(Join(first.nick, port))
    answer = await first.receive(QUIET_SECONDS)
    if answer is not None and answer.is_error:
        raise NotReached("a join with a port is refused, which the protocol tolerates")
    driven_game = await context.start_game_with([first])
    if _listed_address(driven_game, first)[1] != port:
        raise NotReached("the port that a join names is ignored")
    await context.disconnect_all()
    for _ in range(FREE_TRIES):
        second = await context.connect_player()
        await second.send(Join(second.nick, port))
        answer = await second.receive(QUIET_SECONDS)
        if answer is None or not answer.is_error:
            return
        second.disconnect()
        await asyncio.sleep(QUIET_SECONDS)
    assert answer is not None, "the join was refused"
    raise answer.failure("oldmaid-3.9", "a player at the port of a player whose game is over")


@CASES.add("3.8", "nick-taken", "A nick is taken once in a game")
async def _nick_taken(context: TableContext) -> None:
    await context.learn_table_size()
    first = await context.join_player()
    second = await context.connect_player(first.nick)
    await second.require_refused_join("oldmaid-3.8")
    second.nick = context.new_nick()
    await second.send(Join(second.nick))
    await context.start_game_with([first, second])


@CASES.add("3.18", "another-nick", "A player whose nick is refused may join with another one")
async def _join_with_another_nick(context: TableContext) -> None:
    await context.learn_table_size()
    first = await context.join_player()
    second = await context.connect_player(first.nick)
    await second.send(Join(first.nick))
    answer = await second.receive_optional_answer()
    if answer is None or not answer.is_error:
        raise NotReached("the nick of another player is not refused")
    second.nick = context.new_nick()
    await second.send(Join(second.nick))
    late_answer = await second.receive(QUIET_SECONDS)
    if second.is_disconnected or (late_answer is not None and late_answer.is_error):
        what = "the end of the connection" if late_answer is None else late_answer.text
        raise Failed("oldmaid-3.18", what, "that another nick is taken")
    if late_answer is None:
        driven_game = await context.start_game_with([first, second])
        if second not in driven_game.players:
            raise Failed("oldmaid-3.18", "a game of others, who have joined later", "a place after another nick")


@CASES.add("3.8", "nick-elsewhere", "Players of two games may have the same nick")
async def _nick_in_another_game(context: TableContext) -> None:
    driven_game = await context.start_game()
    expected = "a nick of a game that is running, in the next game"
    waiting = await context.require_accepted_join("oldmaid-3.8", expected, driven_game.players[0].nick)
    await context.start_game_with(waiting)


@CASES.add("3.9", "joins-twice", "A connection has one place in a game", rank=PIPELINING_RANK)
async def _joins_twice(context: TableContext) -> None:
    await context.learn_table_size()
    player = await context.join_player()
    await player.send(Join(context.new_nick()))
    answer = await player.receive_optional_answer()
    if answer is not None and not answer.is_error:
        raise answer.failure("oldmaid-3.9", "one place for one connection")
    driven_game = await context.start_game_with([player])
    if answer is None:
        answer = await player.receive_answer("oldmaid-3.15", "an error to the second join, which was sent ahead")
        if not answer.is_error:
            raise answer.failure("oldmaid-3.14", "an error to the second join")
    if len(driven_game.players) < context.table_size:
        raise Failed("oldmaid-3.9", f"a game of {len(driven_game.players)}", f"one of {context.table_size}")


@CASES.add("1.8", "greets-nobody", "The table sends nothing before the first request", needs_whole_lobby=False)
async def _table_is_silent_first(context: TableContext) -> None:
    player = await context.connect_player()
    await player.require_silence("oldmaid-1.8", 2 * QUIET_SECONDS)


for slug, nick, title in (
    ("empty", "", "An empty nick is refused"),
    ("65-characters", 65 * "x", "A nick of 65 characters is refused"),
    ("control-characters", "a\x1b[2J", "A nick with control characters is refused"),
):
    CASES.add("3.7", slug, title, failure_is_choice=True)(partial(_refused_nick, nick))
for slug, nick, title in (
    ("letters-of-the-world", "{} Ægir ♠", "A nick may have any letters, for messages are UTF-8"),
    ("brackets", '{}}{][\\"}', "Brackets and quotes within a nick do not end a message"),
    ("long-nick", "{}" + 44 * "x", "A nick may be long"),
):
    CASES.add("3.7", slug, title, failure_is_choice=slug == "long-nick")(partial(_accepted_nick, nick))
