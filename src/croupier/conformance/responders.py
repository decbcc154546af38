"""Responders: the house side of a conversation, played by our own house (perhaps mutated) or by a transcript."""

from collections.abc import Callable, Sequence
from typing import Any, Final

from msgspec import Struct

from croupier.core.dealer import dealer_factory
from croupier.core.errors import Violation
from croupier.core.referee import CLIENT
from croupier.core.room import HouseRoom
from croupier.core.session import Closing, Drop, Event, Joined, Malformed, Received, Send, Timeouts
from croupier.core.transcript import Transcript, deck_file, encode_line

type Mutation = Callable[[Sequence[bytes]], Sequence[bytes]]
"""Changes the correct answers to one message; each item is an encoded message."""

ENDLESS_TIMEOUTS: Final = Timeouts(idle=1e9)
"""The house itself never times out: the test server measures time."""


def unchanged(answers: Sequence[bytes]) -> Sequence[bytes]:
    """The mutation of a correct house."""
    return answers


class HouseReply(Struct, frozen=True):
    """The reaction of the house to a message: its answers, and whether it closes after them."""

    messages: Sequence[bytes] = ()
    closes: bool = False


class LiveResponder:
    """The house of the room at a private table, with a mutation of its answers.

    `decks` are dealt in turn; other randomness is fixed by the server seed.
    """

    is_over = False
    """Whether it has sent everything that it has to send."""
    deviation = ""
    """A sentence about the message with which the client left the script; empty if it has not."""

    def __init__(
        self,
        room: HouseRoom,
        settings: Any,
        mutation: Mutation = unchanged,
        *,
        decks: str = "",
        seed: bytes = bytes(32),
    ) -> None:
        orders = room.pack.parse_decks(deck_file(decks), "case", room.deck_count(settings)) if decks else ()
        dealer = dealer_factory(lambda _: seed, decks=orders)(CLIENT)
        self._house = room.house(settings, ENDLESS_TIMEOUTS, False)(CLIENT, dealer)
        self._encode = room.codec(False, settings).encode
        self._mutation = mutation
        self._house.on(Joined(CLIENT), 0.0)

    def greet(self) -> HouseReply:
        """A house sends nothing first."""
        return HouseReply()

    def answer(self, item: Any) -> HouseReply:
        """The answer of the house."""
        return self._reply(Malformed(CLIENT, item) if type(item) is Violation else Received(CLIENT, item))

    def leave(self, *, at_once: bool) -> HouseReply:
        """The room closes."""
        return self._reply(Closing(at_once))

    def _reply(self, event: Event[Any]) -> HouseReply:
        effects = self._house.on(event, 0.0)
        answers = [self._encode(effect.message) for effect in effects if type(effect) is Send]
        return HouseReply(
            self._mutation(answers) if answers else answers, any(type(effect) is Drop for effect in effects)
        )


class TranscriptStep(Struct, frozen=True):
    """A message of the client in a transcript (None: the start), and the reply of the house."""

    received: Any
    reply: HouseReply


def transcript_steps(room: HouseRoom, settings: Any, transcript: Transcript) -> tuple[TranscriptStep, ...]:
    """The part of the house in a transcript. Raises ValueError if it cannot be replayed."""
    codec = room.codec(False, settings)
    received: list[Any] = [None]
    replies: list[HouseReply] = [HouseReply()]
    for line in transcript.lines:
        match line.kind:
            case ">":
                messages = codec.feed(encode_line(line.text))
                if not messages or any(type(message) is Violation for message in messages):
                    raise ValueError(f"{transcript.name}: found {line.text!r}; allowed: whole messages of a client")
                received += messages
                replies += (HouseReply() for _ in messages)
            case "<":
                replies[-1] = HouseReply([*replies[-1].messages, encode_line(line.text)])
            case "dropped":
                replies[-1] = HouseReply(replies[-1].messages, closes=True)
            case "settled":
                pass
            case _:
                raise ValueError(f"{transcript.name}: found a deed; allowed: talk")
    return tuple(TranscriptStep(message, reply) for message, reply in zip(received, replies, strict=True))


def message_kind(message: object) -> str:
    """The kind of a message: its words, without amounts.

    Example:
        >>> message_kind("ANTE 10")
        'ANTE'
    """
    return " ".join(word for word in str(message).split() if not word.lstrip("-").isdigit())


class TranscriptResponder:
    """The house side of a transcript, as long as the client sends the messages of the transcript; amounts may differ.

    Until the client sends the first message of the transcript, the house of the room plays with it.
    """

    def __init__(self, script: Sequence[TranscriptStep], house: LiveResponder) -> None:
        self.deviation = ""
        self._script = script
        self._next = 1
        self._house = house

    @property
    def is_over(self) -> bool:
        """Whether the whole transcript was replayed."""
        return self._next == len(self._script)

    def greet(self) -> HouseReply:
        """The messages of the house before the first one of the client."""
        return self._script[0].reply

    def answer(self, item: Any) -> HouseReply:
        """The reply to this message in the transcript."""
        if self.is_over:
            return self.leave(at_once=True)
        step = self._script[self._next]
        if message_kind(item) == message_kind(step.received):
            self._next += 1
            return step.reply
        if self._next == 1:
            return self._house.answer(item)
        self.deviation = f"the client sent {item} where {step.received} leads to the state"
        return self.leave(at_once=True)

    def leave(self, *, at_once: bool) -> HouseReply:  # noqa: ARG002 -- after the transcript there is nothing to wait for
        """The goodbye of the room."""
        return self._house.leave(at_once=True)


type Responder = LiveResponder | TranscriptResponder
"""The house side of a conversation, without a clock."""
