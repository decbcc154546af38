"""Cases about how messages come to a table: cut, glued, slow, all at once, with other keys, and what is no text."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Sequence

from croupier.conformance.oldmaid.cases.requests import TableCase, case
from croupier.conformance.oldmaid.findings import Broken, Chosen
from croupier.conformance.oldmaid.scripted_player import MOMENT, Guest
from croupier.conformance.oldmaid.tables import Scene
from croupier.rooms.oldmaid.table.game import CARDS
from croupier.rooms.oldmaid.wire import JSON, LONGEST, Draw, Join, Message, Status

GAP = 0.003
"""So many seconds lie between two pieces of a message, so that each is read by itself."""


def _bytes(*messages: Message) -> bytes:
    return b"".join(map(JSON.encode, messages))


def _delivered(clause: str, data: bytes, chop: int = 0) -> Callable[[Scene], Awaitable[None]]:
    """A draw that comes in this form."""

    async def play(scene: Scene) -> None:
        sitting = await scene.sit()
        await sitting.taker.granted(data, clause, chop=chop, pause=GAP)
        await sitting.draw(len(sitting.guests))

    return play


async def byte_by_byte(scene: Scene) -> None:
    """A round of a game in which every byte comes by itself, from the join on."""
    await scene.survey()
    guest = await scene.guest()
    await guest.say(Join(guest.nick), chop=1, pause=GAP / 3)
    sitting = await scene.fill([guest])
    for _ in range(3 * len(sitting.guests)):
        await sitting.taker.ask(Draw(), chop=1, pause=GAP / 3)
        for other in sitting.guests:
            await sitting.throw(other)


async def cut_anywhere(scene: Scene) -> None:
    """A message may be cut in two at any byte."""
    sitting = await scene.sit()
    for at in range(1, len(_bytes(Draw()))):
        if sitting.game.drawn < CARDS:
            guest = sitting.taker
            data = _bytes(Draw())
            await guest.say(data[:at])
            await asyncio.sleep(GAP)
            await guest.granted(data[at:], "oldmaid-1.4")


async def glued(scene: Scene) -> None:
    """Requests in one go are answered one after another, in their order."""
    sitting = await scene.sit()
    guest = sitting.taker
    requests: tuple[Message, ...] = (Draw(), Status(), Draw(), Status())
    await guest.say(_bytes(*requests))
    for number, request in enumerate(requests, start=1):
        expected = f"answer {number} of {len(requests)}, to {request}"
        heard = await guest.answer("oldmaid-1.4", expected)
        if number == 3 and not heard.error:
            raise Broken(
                "oldmaid-1.4", heard.told, "an error to the second draw, which comes too early", got=heard.data
            )
        guest.judged(request, heard)
    await sitting.draw(len(sitting.guests))


async def sent_ahead(scene: Scene) -> None:
    """Many requests that are sent ahead are all answered."""
    sitting = await scene.sit()
    guest = sitting.guests[-1]
    await guest.say(b"\n".join(50 * [_bytes(Status())]) + b"\n")
    for number in range(1, 51):
        guest.judged(Status(), await guest.answer("oldmaid-1.4", f"answer {number} of 50"))


async def tail(scene: Scene) -> None:
    """The end of one message may come with the beginning of the next."""
    sitting = await scene.sit()
    guest = sitting.taker
    both = _bytes(Draw(), Status())
    for piece in (both[:5], both[5:20], both[20:]):
        await guest.say(piece)
        await asyncio.sleep(GAP)
    for request in (Draw(), Status()):
        guest.judged(request, await guest.answer("oldmaid-1.4", f"the answer to {request}"))


async def slow(scene: Scene) -> None:
    """Who is slow with a message holds up nobody else."""
    sitting = await scene.sit()
    first, *others = sitting.guests
    data = _bytes(Draw())
    await first.say(data[:9])
    for other in others:
        await other.ask(Status())
    stranger = await scene.guest()
    await stranger.say(Status())
    await stranger.answer("oldmaid-1.4", "an answer, though somebody else is slow")
    await first.granted(data[9:], "oldmaid-1.4")


async def all_at_once(scene: Scene) -> None:
    """Many connections speak at the same time."""
    sittings = [await scene.sit() for _ in range(3)]
    guests = [guest for sitting in sittings for guest in sitting.guests]
    for _ in range(5):
        for guest in guests:
            await guest.say(Status())
        for guest in guests:
            guest.judged(Status(), await guest.answer("oldmaid-1.4"))
    await asyncio.gather(*(sitting.draw(throw=False) for sitting in sittings))


async def in_the_middle(scene: Scene) -> None:
    """Who hangs up in the middle of a message is gone as anybody else, and others may come."""
    sitting = await scene.sit(3)
    await sitting.draw(4, throw=False)
    guest = sitting.idler
    await guest.say(b'{"cmd": "sta')
    await sitting.leave(guest)
    await sitting.draw(4 + 2 * len(sitting.guests), throw=False)
    await (await scene.sit()).draw(3)


async def said_once(scene: Scene) -> None:
    """What is wrong in more than one way is refused once."""
    sitting = await scene.sit()
    guest = sitting.idler
    await guest.refused(b'{"cmd": "discard", "cards": [["3", 7]], "port": 0, "last_cards": 4}\n', "oldmaid-8.2")
    await guest.quiet("oldmaid-8.2")
    await sitting.draw(len(sitting.guests))


def _between(data: bytes, clause: str, told: str) -> Callable[[Scene], Awaitable[None]]:
    """What stands before a message, and is no message, is answered with an error; then the message is heard."""

    async def play(scene: Scene) -> None:
        sitting = await scene.sit()
        guest = sitting.taker
        await guest.say(data, judged=False)
        await guest.say(Draw(), judged=False)
        first = await guest.answer(clause, f"an error to {told}")
        if not first.error:
            raise Broken(clause, f"{first.told} to {told}", "an error", got=first.data)
        heard = await guest.reaction()
        if heard is None:
            raise Broken(clause, f"nothing to the draw behind {told}", "a card")
        guest.note(Draw())
        guest.judged(Draw(), heard)

    return play


async def no_text(scene: Scene) -> None:
    """Bytes that are no text are answered with an error."""
    guest = await scene.guest()
    await guest.refused(b'{"cmd": "\xff\xfe"}\n', "oldmaid-8.8")
    await _left_alone(scene, guest, "bytes that are no text")


async def endless(scene: Scene) -> None:
    """What does not end is not read for ever."""
    guest = await scene.guest()
    await guest.say(b'{"cmd": "' + (LONGEST + 1024) * b"x")
    heard = await guest.reaction()
    if heard is None and not guest.gone:
        raise Broken("oldmaid-8.9", f"nothing to a message of more than {LONGEST:,} bytes", "an error, and the end")
    await _left_alone(scene, guest, f"a message of more than {LONGEST:,} bytes")


async def _left_alone(scene: Scene, guest: Guest, told: str) -> None:
    """Others do not feel it; if the connection goes on that is told."""
    sitting = await scene.sit()
    await sitting.draw(2 * len(sitting.guests))
    if not guest.gone:
        await guest.hear(MOMENT)
    if not guest.gone:
        raise Chosen(f"behind {told} it goes on; ours hangs up")


async def long_message(scene: Scene) -> None:
    """A message that ends in time may be long."""
    sitting = await scene.sit()
    padded = b'{"cmd": "draw", "padding": "' + 16_000 * b"x" + b'"}\n'
    await sitting.taker.granted(padded, "oldmaid-8.9")


async def swallowed(scene: Scene) -> None:
    """Answers that nobody waits for are swallowed."""
    sitting = await scene.sit()
    guest = sitting.taker
    await guest.say(b'{"result": "ok"}\n{"result": "error", "message": "what?"}\n')
    heard = await guest.reaction()
    if heard is not None:
        raise Broken("oldmaid-2.11", heard.told, "nothing", got=heard.data)
    await sitting.draw(len(sitting.guests))


async def line_ends(scene: Scene) -> None:
    """How the table ends its messages; what stands before the next one was behind the last."""
    sitting = await scene.sit()
    guest = sitting.taker
    heard = await guest.ask(Draw())
    following = await guest.ask(Status())
    spelt = "with a line end" if following.data[:1] in b"\r\n" else "with their last bracket"
    raise Chosen(f"messages end {spelt}, and the keys of an answer come as {', '.join(heard.keys)}")


async def strings_for_numbers(scene: Scene) -> None:
    """A number in a string is none."""
    await scene.survey()
    guest = await scene.guest()
    said = {"cmd": "join", "nick": guest.nick, "port": "4099"}
    await guest.say(json.dumps(said).encode() + b"\n")
    heard = await guest.reaction()
    if heard is None:
        raise Broken("oldmaid-2.10", 'nothing, as if it were right, to the port "4099"', "an error")
    if not heard.error:
        raise Broken("oldmaid-2.10", heard.told, "an error", got=heard.data)


def cases() -> Sequence[TableCase]:
    """Every case about how messages come."""
    draw = _bytes(Draw())
    spaced = b' \r\n\t{ "cmd"\n:\t"draw" }  \n\n'
    turned = b'{"cmd": "draw", "what": {"is": ["this", 7, null]}, "nick": "nobody"}\n'
    return (
        case(
            "1.3",
            "white-space",
            "There may be any white space between messages, and in them",
            _delivered("oldmaid-1.3", spaced),
        ),
        case("1.3", "no-line-end", "A message is complete without a line end", _delivered("oldmaid-1.3", draw)),
        case("1.3", "escapes", "Strings may be escaped", _delivered("oldmaid-1.3", b'{"\\u0063md": "dr\\u0061w"}\n')),
        case("1.4", "byte-by-byte", "Messages may come byte by byte", byte_by_byte, alone=True),
        case("1.4", "cut-anywhere", "A message may be cut at any byte", cut_anywhere),
        case("1.4", "in-threes", "A message may come in small pieces", _delivered("oldmaid-1.4", draw + b"\n", 3)),
        case("1.4", "glued", "Messages in one go are answered in their order", glued),
        case("1.4", "sent-ahead", "Fifty requests sent ahead are all answered", sent_ahead),
        case("1.4", "tail", "The end of a message may come with the next one's beginning", tail),
        case("1.4", "slow", "Who is slow with a message holds up nobody", slow),
        case("1.4", "all-at-once", "Many may speak at the same time", all_at_once),
        case("9.1", "in-the-middle", "Who hangs up in the middle of a message is gone", in_the_middle),
        case("1.5", "line-ends", "How messages end", line_ends),
        case(
            "1.7",
            "open-string",
            "A forgotten quote costs one line",
            _between(b'{"cmd": "status}\n', "oldmaid-1.7", "a forgotten quote"),
            free=True,
        ),
        case(
            "1.7",
            "text-between",
            "Text between messages is no message",
            _between(b"hello ", "oldmaid-1.7", "text before a message"),
            free=True,
        ),
        case("2.1", "unknown-keys", "Unknown keys are ignored", _delivered("oldmaid-2.1", turned)),
        case(
            "2.1",
            "equal-keys",
            "Of equal keys the last one counts",
            _delivered("oldmaid-2.1", b'{"cmd": "status", "cmd": "draw"}\n'),
            free=True,
        ),
        case("2.10", "strings-for-numbers", "A number in a string is none", strings_for_numbers, free=True, alone=True),
        case("2.11", "swallowed", "Answers that nobody waits for are swallowed", swallowed, free=True),
        case("8.2", "said-once", "What is wrong is refused once", said_once),
        case("8.8", "no-text", "Bytes that are no text are answered with an error", no_text),
        case("8.9", "endless", "What does not end is not read for ever", endless, free=True),
        case("8.9", "long-message", "A message that ends in time may be long", long_message, free=True),
    )
