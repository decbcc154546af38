"""Table cases about framing: messages cut, pipelined, slow or concurrent, unknown keys, and invalid text."""

import asyncio
from functools import partial
from typing import Final

from croupier.conformance.case import CaseList
from croupier.conformance.channel.delivery import WHOLE, Delivery
from croupier.conformance.oldmaid.case import OldMaidCase, TableCase
from croupier.conformance.oldmaid.cases.joining import PIPELINING_RANK
from croupier.conformance.oldmaid.outcomes import Failed, ImplementationChoice
from croupier.conformance.oldmaid.scripted_player import QUIET_SECONDS
from croupier.conformance.oldmaid.table_context import TableContext
from croupier.core.errors import FoundKind
from croupier.net.event_loop import run_together
from croupier.rooms.oldmaid.cards import CARD_COUNT
from croupier.rooms.oldmaid.wire import JSON_ENCODER, Draw, Join, Message, Status

CASES: Final = CaseList[TableCase](OldMaidCase, "oldmaid")

PIECE_GAP_SECONDS = 0.003
"""The pause between two pieces of a message, so that each is read separately."""


def _encode(*messages: Message) -> bytes:
    return b"".join(map(JSON_ENCODER.encode, messages))


async def _draw_in_form(clause: str, data: bytes, piece_bytes: int, context: TableContext) -> None:
    """A draw may be sent in this form."""
    delivery = Delivery(piece_bytes, PIECE_GAP_SECONDS)
    driven_game = await context.start_game()
    await driven_game.drawer.require_ok(data, clause, delivery=delivery)
    await driven_game.draw(len(driven_game.players))


async def _three_rounds(context: TableContext) -> None:
    """Three rounds that begin with a join."""
    await context.learn_table_size()
    async with context.holding_lobby():
        player = await context.connect_player()
        await player.send(Join(player.nick), delivery=context.delivery)
        driven_game = await context.start_game_with([player])
    for _ in range(3 * len(driven_game.players)):
        await driven_game.drawer.request(Draw(), delivery=context.delivery)
        for other in driven_game.players:
            await driven_game.discard_pairs(other)


async def _cut_anywhere(context: TableContext) -> None:
    """Draws that are cut at one byte after the other."""
    driven_game = await context.start_game()
    data = _encode(Draw())
    for at in range(1, len(data)):
        if driven_game.game.drawn_count < CARD_COUNT:
            pieces = Delivery(at, PIECE_GAP_SECONDS) if context.delivery.max_piece_bytes else WHOLE
            await driven_game.drawer.require_ok(data, "oldmaid-1.4", delivery=pieces)


@CASES.add("1.4", "glued", "Messages that arrive together are answered in order", rank=PIPELINING_RANK)
async def _pipelined_requests(context: TableContext) -> None:
    driven_game = await context.start_game()
    player = driven_game.drawer
    requests: tuple[Message, ...] = (Draw(), Status(), Draw(), Status())
    await player.send(_encode(*requests))
    for number, request in enumerate(requests, start=1):
        expected = f"answer {number} of {len(requests)}, to {request}"
        answer = await player.receive_answer("oldmaid-1.4", expected)
        if number == 3 and not answer.is_error:
            raise answer.failure("oldmaid-1.4", "an error to the second draw, which comes too early")
        player.judge_answer(request, answer)
    await driven_game.draw(len(driven_game.players))


@CASES.add("1.4", "sent-ahead", "Fifty requests sent ahead are all answered", rank=PIPELINING_RANK)
async def _fifty_requests_ahead(context: TableContext) -> None:
    driven_game = await context.start_game()
    player = driven_game.players[-1]
    await player.send(b"\n".join(50 * [_encode(Status())]) + b"\n")
    for number in range(1, 51):
        player.judge_answer(Status(), await player.receive_answer("oldmaid-1.4", f"answer {number} of 50"))


@CASES.add("1.4", "tail", "The end of a message may arrive with the next one's beginning")
async def _message_tail_with_next(context: TableContext) -> None:
    driven_game = await context.start_game()
    player = driven_game.drawer
    requests = _encode(Draw(), Status())
    try:
        for piece in (requests[:5], requests[5:20], requests[20:]):
            await player.send(piece)
            await asyncio.sleep(PIECE_GAP_SECONDS)
    except Failed as failed:
        if b"error" in failed.failure.got:  # to a piece
            failed.amend(clause="oldmaid-1.4")
        raise
    for request in (Draw(), Status()):
        expected = f"the answer to {request}"
        answer = await player.receive_answer("oldmaid-1.4", expected)
        if answer.is_error:
            raise answer.failure("oldmaid-1.4", expected)
        player.judge_answer(request, answer)


@CASES.add("1.4", "slow", "A slow message delays no other player")
async def _slow_sender(context: TableContext) -> None:
    driven_game = await context.start_game()
    first, *others = driven_game.players
    stranger = await context.connect_player()
    await stranger.send(Status())
    try:
        await stranger.receive_answer("oldmaid-2.3")
    except Failed as failed:
        if failed.failure.kind is FoundKind.CLOSED:
            failed.amend(clause="oldmaid-6.13")
        raise
    data = _encode(Draw())
    await first.send(data[:9])
    try:
        for other in others:
            await other.request(Status())
    except Failed:
        await first.require_one_answer_each()  # one that is gone shows in the status
        raise
    stranger = await context.connect_player()
    await stranger.send(Status())
    await stranger.receive_answer("oldmaid-1.4", "an answer, though another player is slow")
    await first.require_ok(data[9:], "oldmaid-1.4")


@CASES.add("1.4", "all-at-once", "Many players may send at the same time", rank=PIPELINING_RANK)
async def _all_at_once(context: TableContext) -> None:
    driven_games = [await context.start_game() for _ in range(3)]
    players = [player for driven_game in driven_games for player in driven_game.players]
    for _ in range(5):
        for player in players:
            await player.send(Status())
        for player in players:
            player.judge_answer(Status(), await player.receive_answer("oldmaid-1.4"))
    await run_together(*(driven_game.draw(discards_pairs=False) for driven_game in driven_games))


@CASES.add("9.1", "in-the-middle", "A player that disconnects in the middle of a message is gone")
async def _disconnect_mid_message(context: TableContext) -> None:
    driven_game = await context.start_game(3, drawn=4, discards_pairs=False)
    player = driven_game.waiting_player
    await player.send(b'{"cmd": "sta')
    await driven_game.disconnect(player)
    await driven_game.draw(4 + 2 * len(driven_game.players), discards_pairs=False)
    await context.start_game(drawn=3)


@CASES.add("8.2", "said-once", "A request with several errors is refused once")
async def _single_error(context: TableContext) -> None:
    driven_game = await context.start_game()
    player = driven_game.waiting_player
    await player.require_error(b'{"cmd": "discard", "cards": [["3", 7]], "port": 0, "last_cards": 4}\n', "oldmaid-8.2")
    await player.require_silence("oldmaid-8.2")
    await driven_game.draw(len(driven_game.players))


@CASES.add("1.7", "text-between", "Text between messages is no message", failure_is_choice=True)
async def _text_between(context: TableContext) -> None:
    driven_game = await context.start_game()
    player = driven_game.drawer
    await player.send(b"hello ", is_judged=False)
    await player.send(Draw(), is_judged=False)
    first = await player.receive_answer("oldmaid-1.7", "an error to text before a message")
    if not first.is_error:
        raise first.failure("oldmaid-1.7", "an error", f"{first.text} to text before a message")
    answer = await player.receive_optional_answer()
    if answer is None:
        raise Failed("oldmaid-1.7", "nothing to the draw after text before a message", "a card")
    player.report_request(Draw())
    player.judge_answer(Draw(), answer)


@CASES.add("8.8", "no-text", "Bytes that are not UTF-8 are answered with an error")
async def _undecodable_bytes(context: TableContext) -> None:
    player = await context.connect_player()
    await player.require_error(b'{"cmd": "\xff\xfe"}\n', "oldmaid-8.8")
    driven_game = await context.start_game()
    await driven_game.draw(2 * len(driven_game.players))
    if not player.is_disconnected:
        await player.receive(QUIET_SECONDS)
    if not player.is_disconnected:
        raise ImplementationChoice(
            "after bytes that are no text the conversation goes on; croupier closes the connection"
        )


@CASES.add("2.11", "swallowed", "Answers to no pending request are ignored", failure_is_choice=True)
async def _unexpected_answers_ignored(context: TableContext) -> None:
    driven_game = await context.start_game()
    player = driven_game.drawer
    await player.send(b'{"result": "ok"}\n{"result": "error", "message": "what?"}\n')
    answer = await player.receive_optional_answer()
    if answer is not None:
        raise answer.failure("oldmaid-2.11", "nothing")
    await driven_game.draw(len(driven_game.players))


@CASES.add("1.5", "line-ends", "How messages end")
async def _line_ends(context: TableContext) -> None:
    driven_game = await context.start_game()
    player = driven_game.drawer
    answer = await player.request(Draw())
    following = await player.request(Status())
    line_end = "with a line end" if following.data[:1] in b"\r\n" else "with their last bracket"
    raise ImplementationChoice(
        f"messages end {line_end}, and the keys of an answer come as {', '.join(answer.json_object)}"
    )


@CASES.add("2.10", "strings-for-numbers", "A number in a string is refused", needs_whole_lobby=True)
async def _strings_for_numbers(context: TableContext) -> None:
    await context.learn_table_size()
    player = await context.connect_player()
    try:
        await player.require_refused_join("oldmaid-2.10", port="4099")
    except Failed as failed:
        if player.is_disconnected or await player.has_received():
            raise
        await context.start_game_with([player])  # which fails if the list has a number in a string, too
        raise ImplementationChoice(f"it reads a number in a string ({failed.failure.clause})") from None


DRAW: Final = _encode(Draw())
SPACED_DRAW: Final = b' \r\n\t{ "cmd"\n:\t"draw" }  \n\n'
PADDED_DRAW: Final = b'{"cmd": "draw", "padding": "' + 16_000 * b"x" + b'"}\n'
DRAW_WITH_KEYS: Final = b'{"what": {"is": ["this", 7, null]}, "cmd": "draw", "nick": "nobody"}\n'

for clause, slug, title, data, piece_bytes in (
    ("1.3", "white-space", "There may be any white space between messages, and in them", SPACED_DRAW, 0),
    ("1.3", "no-line-end", "A message is complete without a line end", DRAW, 0),
    ("1.3", "escapes", "Strings may be escaped", b'{"\\u0063md": "dr\\u0061w"}\n', 0),
    ("1.4", "in-threes", "A message may arrive in small pieces", DRAW + b"\n", 3),
    ("2.1", "unknown-keys", "Unknown keys are ignored, before and after cmd", DRAW_WITH_KEYS, 0),
):
    CASES.add(clause, slug, title)(partial(_draw_in_form, f"oldmaid-{clause}", data, piece_bytes))
for clause, slug, title, data in (
    ("2.1", "equal-keys", "Of equal keys the last one counts", b'{"cmd": "status", "cmd": "draw"}\n'),
    ("8.9", "long-message", "A message that ends in time may be long", PADDED_DRAW),
):
    CASES.add(clause, slug, title, failure_is_choice=True)(partial(_draw_in_form, f"oldmaid-{clause}", data, 0))


async def _cut_letters(context: TableContext) -> None:
    """A nick of several bytes per letter arrives byte by byte."""
    await context.learn_table_size()
    player = await context.connect_player(f"{context.new_nick()} Ægir ♠")
    await player.send(Join(player.nick), delivery=Delivery(1, PIECE_GAP_SECONDS / 3))
    try:
        await context.start_game_with([player])
    except Failed as failed:
        if failed.failure.clause == "oldmaid-3.3":
            failed.amend(clause="oldmaid-1.4")  # the nick is in the list as the table has read its pieces
        raise


CASES.add("1.4", "cut-letters", "A letter of several bytes may be cut", needs_whole_lobby=True)(_cut_letters)
for slug, title, piece_gap, play in (
    ("byte-by-byte", "Messages may arrive byte by byte", PIECE_GAP_SECONDS / 3, _three_rounds),
    ("cut-anywhere", "A message may be cut at any byte", PIECE_GAP_SECONDS, _cut_anywhere),
):
    CASES.add("1.4", slug, title, delivery=Delivery(1, piece_gap))(play)
