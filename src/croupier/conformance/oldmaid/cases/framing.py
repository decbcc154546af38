"""Cases about how messages come to a table: cut, glued, slow, all at once, with other keys, and what is no text."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Sequence

from croupier.conformance.oldmaid.cases.requests import TableCase, table_case
from croupier.conformance.oldmaid.outcomes import Failed, ImplementationChoice
from croupier.conformance.oldmaid.scripted_player import QUIET_SECONDS, ScriptedPlayer
from croupier.conformance.oldmaid.table_context import TableContext
from croupier.rooms.oldmaid.table.game import CARD_COUNT
from croupier.rooms.oldmaid.wire import JSON_ENCODER, MAX_FRAME_BYTES, Draw, Join, Message, Status

PIECE_GAP_SECONDS = 0.003
"""So many seconds lie between two pieces of a message, so that each is read by itself."""


def _encode(*messages: Message) -> bytes:
    return b"".join(map(JSON_ENCODER.encode, messages))


def _delivery_case(clause: str, data: bytes, piece_bytes: int = 0) -> Callable[[TableContext], Awaitable[None]]:
    """A draw that comes in this form."""

    async def play(scene: TableContext) -> None:
        sitting = await scene.start_game()
        await sitting.drawer.require_ok(data, clause, piece_bytes=piece_bytes, pause_seconds=PIECE_GAP_SECONDS)
        await sitting.draw(len(sitting.players))

    return play


async def byte_by_byte(context: TableContext) -> None:
    """A round of a game in which every byte comes by itself, from the join on."""
    await context.learn_table_size()
    guest = await context.connect_player()
    await guest.send(Join(guest.nick), piece_bytes=1, pause_seconds=PIECE_GAP_SECONDS / 3)
    sitting = await context.start_game_with([guest])
    for _ in range(3 * len(sitting.players)):
        await sitting.drawer.request(Draw(), piece_bytes=1, pause_seconds=PIECE_GAP_SECONDS / 3)
        for other in sitting.players:
            await sitting.discard_pairs(other)


async def cut_anywhere(context: TableContext) -> None:
    """A message may be cut in two at any byte."""
    sitting = await context.start_game()
    for at in range(1, len(_encode(Draw()))):
        if sitting.game.drawn_count < CARD_COUNT:
            guest = sitting.drawer
            data = _encode(Draw())
            await guest.send(data[:at])
            await asyncio.sleep(PIECE_GAP_SECONDS)
            await guest.require_ok(data[at:], "oldmaid-1.4")


async def pipelined_requests(context: TableContext) -> None:
    """Requests in one go are answered one after another, in their order."""
    sitting = await context.start_game()
    guest = sitting.drawer
    requests: tuple[Message, ...] = (Draw(), Status(), Draw(), Status())
    await guest.send(_encode(*requests))
    for number, request in enumerate(requests, start=1):
        expected = f"answer {number} of {len(requests)}, to {request}"
        heard = await guest.receive_answer("oldmaid-1.4", expected)
        if number == 3 and not heard.is_error:
            raise Failed(
                "oldmaid-1.4", heard.text, "an error to the second draw, which comes too early", got=heard.data
            )
        guest.judge_answer(request, heard)
    await sitting.draw(len(sitting.players))


async def fifty_requests_ahead(context: TableContext) -> None:
    """Many requests that are sent ahead are all answered."""
    sitting = await context.start_game()
    guest = sitting.players[-1]
    await guest.send(b"\n".join(50 * [_encode(Status())]) + b"\n")
    for number in range(1, 51):
        guest.judge_answer(Status(), await guest.receive_answer("oldmaid-1.4", f"answer {number} of 50"))


async def message_tail_with_next(context: TableContext) -> None:
    """The end of one message may come with the beginning of the next."""
    sitting = await context.start_game()
    guest = sitting.drawer
    both = _encode(Draw(), Status())
    for piece in (both[:5], both[5:20], both[20:]):
        await guest.send(piece)
        await asyncio.sleep(PIECE_GAP_SECONDS)
    for request in (Draw(), Status()):
        guest.judge_answer(request, await guest.receive_answer("oldmaid-1.4", f"the answer to {request}"))


async def slow_sender(context: TableContext) -> None:
    """Who is slow with a message holds up nobody else."""
    sitting = await context.start_game()
    first, *others = sitting.players
    data = _encode(Draw())
    await first.send(data[:9])
    for other in others:
        await other.request(Status())
    stranger = await context.connect_player()
    await stranger.send(Status())
    await stranger.receive_answer("oldmaid-1.4", "an answer, though somebody else is slow")
    await first.require_ok(data[9:], "oldmaid-1.4")


async def all_at_once(context: TableContext) -> None:
    """Many connections speak at the same time."""
    sittings = [await context.start_game() for _ in range(3)]
    guests = [guest for sitting in sittings for guest in sitting.players]
    for _ in range(5):
        for guest in guests:
            await guest.send(Status())
        for guest in guests:
            guest.judge_answer(Status(), await guest.receive_answer("oldmaid-1.4"))
    await asyncio.gather(*(sitting.draw(discards_pairs=False) for sitting in sittings))


async def disconnect_mid_message(context: TableContext) -> None:
    """Who hangs up in the middle of a message is gone as anybody else, and others may come."""
    sitting = await context.start_game(3)
    await sitting.draw(4, discards_pairs=False)
    guest = sitting.waiting_player
    await guest.send(b'{"cmd": "sta')
    await sitting.disconnect(guest)
    await sitting.draw(4 + 2 * len(sitting.players), discards_pairs=False)
    await (await context.start_game()).draw(3)


async def single_error(context: TableContext) -> None:
    """What is wrong in more than one way is refused once."""
    sitting = await context.start_game()
    guest = sitting.waiting_player
    await guest.require_error(b'{"cmd": "discard", "cards": [["3", 7]], "port": 0, "last_cards": 4}\n', "oldmaid-8.2")
    await guest.require_silence("oldmaid-8.2")
    await sitting.draw(len(sitting.players))


def _text_between_case(data: bytes, clause: str, description: str) -> Callable[[TableContext], Awaitable[None]]:
    """What stands before a message, and is no message, is answered with an error; then the message is heard."""

    async def play(scene: TableContext) -> None:
        sitting = await scene.start_game()
        guest = sitting.drawer
        await guest.send(data, is_judged=False)
        await guest.send(Draw(), is_judged=False)
        first = await guest.receive_answer(clause, f"an error to {description}")
        if not first.is_error:
            raise Failed(clause, f"{first.text} to {description}", "an error", got=first.data)
        heard = await guest.receive_optional_answer()
        if heard is None:
            raise Failed(clause, f"nothing to the draw behind {description}", "a card")
        guest.report_request(Draw())
        guest.judge_answer(Draw(), heard)

    return play


async def undecodable_bytes(context: TableContext) -> None:
    """Bytes that are no text are answered with an error."""
    guest = await context.connect_player()
    await guest.require_error(b'{"cmd": "\xff\xfe"}\n', "oldmaid-8.8")
    await _require_others_unaffected(context, guest, "bytes that are no text")


async def endless_message(context: TableContext) -> None:
    """What does not end is not read for ever."""
    guest = await context.connect_player()
    await guest.send(b'{"cmd": "' + (MAX_FRAME_BYTES + 1024) * b"x")
    heard = await guest.receive_optional_answer()
    if heard is None and not guest.is_disconnected:
        raise Failed(
            "oldmaid-8.9", f"nothing to a message of more than {MAX_FRAME_BYTES:,} bytes", "an error, and the end"
        )
    await _require_others_unaffected(context, guest, f"a message of more than {MAX_FRAME_BYTES:,} bytes")


async def _require_others_unaffected(context: TableContext, player: ScriptedPlayer, description: str) -> None:
    """Others do not feel it; if the connection goes on that is told."""
    sitting = await context.start_game()
    await sitting.draw(2 * len(sitting.players))
    if not player.is_disconnected:
        await player.receive(QUIET_SECONDS)
    if not player.is_disconnected:
        raise ImplementationChoice(f"behind {description} it goes on; ours hangs up")


async def long_message(context: TableContext) -> None:
    """A message that ends in time may be long."""
    sitting = await context.start_game()
    padded = b'{"cmd": "draw", "padding": "' + 16_000 * b"x" + b'"}\n'
    await sitting.drawer.require_ok(padded, "oldmaid-8.9")


async def unexpected_answers_ignored(context: TableContext) -> None:
    """Answers that nobody waits for are swallowed."""
    sitting = await context.start_game()
    guest = sitting.drawer
    await guest.send(b'{"result": "ok"}\n{"result": "error", "message": "what?"}\n')
    heard = await guest.receive_optional_answer()
    if heard is not None:
        raise Failed("oldmaid-2.11", heard.text, "nothing", got=heard.data)
    await sitting.draw(len(sitting.players))


async def line_ends(context: TableContext) -> None:
    """How the table ends its messages; what stands before the next one was behind the last."""
    sitting = await context.start_game()
    guest = sitting.drawer
    heard = await guest.request(Draw())
    following = await guest.request(Status())
    spelt = "with a line end" if following.data[:1] in b"\r\n" else "with their last bracket"
    raise ImplementationChoice(
        f"messages end {spelt}, and the keys of an answer come as {', '.join(heard.json_object)}"
    )


async def strings_for_numbers(context: TableContext) -> None:
    """A number in a string is none."""
    await context.learn_table_size()
    guest = await context.connect_player()
    said = {"cmd": "join", "nick": guest.nick, "port": "4099"}
    await guest.send(json.dumps(said).encode() + b"\n")
    heard = await guest.receive_optional_answer()
    if heard is None:
        raise Failed("oldmaid-2.10", 'nothing, as if it were right, to the port "4099"', "an error")
    if not heard.is_error:
        raise Failed("oldmaid-2.10", heard.text, "an error", got=heard.data)


def cases() -> Sequence[TableCase]:
    """Every case about how messages come."""
    draw = _encode(Draw())
    spaced = b' \r\n\t{ "cmd"\n:\t"draw" }  \n\n'
    turned = b'{"cmd": "draw", "what": {"is": ["this", 7, null]}, "nick": "nobody"}\n'
    return (
        table_case(
            "1.3",
            "white-space",
            "There may be any white space between messages, and in them",
            _delivery_case("oldmaid-1.3", spaced),
        ),
        table_case(
            "1.3", "no-line-end", "A message is complete without a line end", _delivery_case("oldmaid-1.3", draw)
        ),
        table_case(
            "1.3", "escapes", "Strings may be escaped", _delivery_case("oldmaid-1.3", b'{"\\u0063md": "dr\\u0061w"}\n')
        ),
        table_case("1.4", "byte-by-byte", "Messages may come byte by byte", byte_by_byte, needs_whole_lobby=True),
        table_case("1.4", "cut-anywhere", "A message may be cut at any byte", cut_anywhere),
        table_case(
            "1.4", "in-threes", "A message may come in small pieces", _delivery_case("oldmaid-1.4", draw + b"\n", 3)
        ),
        table_case("1.4", "glued", "Messages in one go are answered in their order", pipelined_requests),
        table_case("1.4", "sent-ahead", "Fifty requests sent ahead are all answered", fifty_requests_ahead),
        table_case(
            "1.4", "tail", "The end of a message may come with the next one's beginning", message_tail_with_next
        ),
        table_case("1.4", "slow", "Who is slow with a message holds up nobody", slow_sender),
        table_case("1.4", "all-at-once", "Many may speak at the same time", all_at_once),
        table_case("9.1", "in-the-middle", "Who hangs up in the middle of a message is gone", disconnect_mid_message),
        table_case("1.5", "line-ends", "How messages end", line_ends),
        table_case(
            "1.7",
            "open-string",
            "A forgotten quote costs one line",
            _text_between_case(b'{"cmd": "status}\n', "oldmaid-1.7", "a forgotten quote"),
            failure_is_choice=True,
        ),
        table_case(
            "1.7",
            "text-between",
            "Text between messages is no message",
            _text_between_case(b"hello ", "oldmaid-1.7", "text before a message"),
            failure_is_choice=True,
        ),
        table_case("2.1", "unknown-keys", "Unknown keys are ignored", _delivery_case("oldmaid-2.1", turned)),
        table_case(
            "2.1",
            "equal-keys",
            "Of equal keys the last one counts",
            _delivery_case("oldmaid-2.1", b'{"cmd": "status", "cmd": "draw"}\n'),
            failure_is_choice=True,
        ),
        table_case(
            "2.10",
            "strings-for-numbers",
            "A number in a string is none",
            strings_for_numbers,
            failure_is_choice=True,
            needs_whole_lobby=True,
        ),
        table_case(
            "2.11",
            "swallowed",
            "Answers that nobody waits for are swallowed",
            unexpected_answers_ignored,
            failure_is_choice=True,
        ),
        table_case("8.2", "said-once", "What is wrong is refused once", single_error),
        table_case("8.8", "no-text", "Bytes that are no text are answered with an error", undecodable_bytes),
        table_case("8.9", "endless", "What does not end is not read for ever", endless_message, failure_is_choice=True),
        table_case(
            "8.9", "long-message", "A message that ends in time may be long", long_message, failure_is_choice=True
        ),
    )
