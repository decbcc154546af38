"""The voices of a house at a stand: our own house, with a habit if need be, or what is on paper."""

from collections.abc import Callable, Sequence
from typing import Any, Final, Protocol

from msgspec import Struct

from croupier.core.dealer import dealer_factory
from croupier.core.errors import Violation
from croupier.core.referee import CLIENT
from croupier.core.room import HouseRoom
from croupier.core.session import Closing, Drop, Event, Joined, Malformed, Received, Send, Timeouts
from croupier.core.transcript import Transcript, encode_line

type Mutation = Callable[[Sequence[bytes]], Sequence[bytes]]
"""What a house makes of its honest answers to one message, each of them the bytes of a message."""

ENDLESS_TIMEOUTS: Final = Timeouts(idle=1e9)
"""The house itself has all the time in the world: the stand looks at the clock."""


def unchanged(answers: Sequence[bytes]) -> Sequence[bytes]:
    """The habit of an honest house."""
    return answers


class HouseReply(Struct, frozen=True):
    """What the house does about a message: what it says, and whether it closes behind that."""

    messages: Sequence[bytes] = ()
    closes: bool = False


class Responder(Protocol):
    """The house's side of a conversation, without a clock."""

    @property
    def is_over(self) -> bool:
        """Whether it has said all that it has to say."""
        ...

    @property
    def deviation(self) -> str:
        """What the client has said instead of what was to be shown, in a sentence; empty while it has not."""
        ...

    def answer(self, item: Any) -> HouseReply:
        """What it answers to a message of the client, or to a Violation."""
        ...

    def greet(self) -> HouseReply:
        """What it says before it is spoken to."""
        ...

    def leave(self, *, at_once: bool) -> HouseReply:
        """It says goodbye, at once or when the game is over."""
        ...


class LiveResponder:
    """The room's own house at a private table; what it answers goes through a habit.

    `decks` are dealt in turn; what they leave to luck is fixed by the server seed.
    """

    is_over = False
    deviation = ""

    def __init__(
        self,
        room: HouseRoom,
        settings: Any,
        mutation: Mutation = unchanged,
        *,
        decks: str = "",
        seed: bytes = bytes(32),
    ) -> None:
        text = "\n\n".join(deck.replace(" ", "\n") for deck in decks.split(" / "))
        orders = room.pack.parse_decks(text, "case", room.deck_count(settings)) if decks else ()
        dealer = dealer_factory(lambda _: seed, decks=orders)(CLIENT)
        self._house = room.house(settings, ENDLESS_TIMEOUTS, False)(CLIENT, dealer)
        self._encode = room.codec(False, settings).encode
        self._habit = mutation
        self._house.on(Joined(CLIENT), 0.0)

    def greet(self) -> HouseReply:
        """A house is silent until it is spoken to."""
        return HouseReply()

    def answer(self, item: Any) -> HouseReply:
        """What the house answers."""
        return self._done(Malformed(CLIENT, item) if type(item) is Violation else Received(CLIENT, item))

    def leave(self, *, at_once: bool) -> HouseReply:
        """The room closes."""
        return self._done(Closing(at_once))

    def _done(self, event: Event[Any]) -> HouseReply:
        effects = self._house.on(event, 0.0)
        said = [self._encode(effect.message) for effect in effects if type(effect) is Send]
        return HouseReply(self._habit(said) if said else said, any(type(effect) is Drop for effect in effects))


class TranscriptStep(Struct, frozen=True):
    """What is on paper between two messages of the client: the first of them (None: at the start), and the reply."""

    received: Any
    reply: HouseReply


def transcript_steps(room: HouseRoom, settings: Any, transcript: Transcript) -> tuple[TranscriptStep, ...]:
    """The part of the house on paper. Raises ValueError where it is none that a stand can play."""
    codec = room.codec(False, settings)
    heard: list[Any] = [None]
    replies: list[HouseReply] = [HouseReply()]
    for line in transcript.lines:
        match line.kind:
            case ">":
                messages = codec.feed(encode_line(line.text))
                if not messages or any(type(message) is Violation for message in messages):
                    raise ValueError(f"{transcript.name}: found {line.text!r}; allowed: whole messages of a client")
                heard += messages
                replies += (HouseReply() for _ in messages)
            case "<":
                replies[-1] = HouseReply([*replies[-1].messages, encode_line(line.text)])
            case "dropped":
                replies[-1] = HouseReply(replies[-1].messages, closes=True)
            case "settled":
                pass
            case _:
                raise ValueError(f"{transcript.name}: found a deed; allowed: talk")
    return tuple(TranscriptStep(message, reply) for message, reply in zip(heard, replies, strict=True))


def message_kind(message: object) -> str:
    """What sort of message it is: its words, without amounts."""
    return " ".join(word for word in str(message).split() if not word.lstrip("-").isdigit())


class TranscriptResponder:
    """The house's side of a transcript, as long as the client says what is on paper; the amounts are its own.

    Until it says what the paper begins with, the room's own house plays with it.
    """

    def __init__(self, script: Sequence[TranscriptStep], house: LiveResponder) -> None:
        self.deviation = ""
        self._script = script
        self._next = 1
        self._house = house

    @property
    def is_over(self) -> bool:
        """Whether all of it has been said."""
        return self._next == len(self._script)

    def greet(self) -> HouseReply:
        """What is on paper before the client speaks."""
        return self._script[0].reply

    def answer(self, item: Any) -> HouseReply:
        """What is on paper behind this message."""
        if self.is_over:
            return self.leave(at_once=True)
        step = self._script[self._next]
        if message_kind(item) == message_kind(step.received):
            self._next += 1
            return step.reply
        if self._next == 1:
            return self._house.answer(item)
        self.deviation = f"the client said {item} where {step.received} leads there"
        return self.leave(at_once=True)

    def leave(self, *, at_once: bool) -> HouseReply:  # noqa: ARG002 -- what comes behind the paper is always its end
        """The goodbye of the room."""
        return self._house.leave(at_once=True)
