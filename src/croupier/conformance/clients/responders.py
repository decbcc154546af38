"""The voices of a house at a stand: our own house, with a habit if need be, or what is on paper."""

from collections.abc import Callable, Sequence
from typing import Any, Final, Protocol

from msgspec import Struct

from croupier.core.dealer import dealers
from croupier.core.errors import Violation
from croupier.core.referee import CLIENT
from croupier.core.room import HouseRoom
from croupier.core.session import Drop, Event, Garbled, Halted, Joined, Patience, Said, Say
from croupier.core.transcript import Transcript, data

type Habit = Callable[[Sequence[bytes]], Sequence[bytes]]
"""What a house makes of its honest answers to one message, each of them the bytes of a message."""

ENDLESS: Final = Patience(idle=1e9)
"""The house itself has all the time in the world: the stand looks at the clock."""


def honest(answers: Sequence[bytes]) -> Sequence[bytes]:
    """The habit of an honest house."""
    return answers


class Reply(Struct, frozen=True):
    """What the house does about a message: what it says, and whether it closes behind that."""

    said: Sequence[bytes] = ()
    closes: bool = False


class Voice(Protocol):
    """The house's side of a conversation, without a clock."""

    @property
    def over(self) -> bool:
        """Whether it has said all that it has to say."""
        ...

    @property
    def stray(self) -> str:
        """What the client has said instead of what was to be shown, in a sentence; empty while it has not."""
        ...

    def hear(self, item: Any) -> Reply:
        """What it answers to a message of the client, or to a Violation."""
        ...

    def first(self) -> Reply:
        """What it says before it is spoken to."""
        ...

    def leave(self, *, at_once: bool) -> Reply:
        """It says goodbye, at once or when the game is over."""
        ...


class Live:
    """The room's own house at a private table; what it answers goes through a habit.

    `decks` are dealt in turn; what they leave to luck is fixed by the server seed.
    """

    over = False
    stray = ""

    def __init__(
        self, room: HouseRoom, settings: Any, habit: Habit = honest, *, decks: str = "", seed: bytes = bytes(32)
    ) -> None:
        text = "\n\n".join(deck.replace(" ", "\n") for deck in decks.split(" / "))
        orders = room.pack.decks(text, "case", room.decks(settings)) if decks else ()
        dealer = dealers(lambda _: seed, decks=orders)(CLIENT)
        self._house = room.house(settings, ENDLESS, False)(CLIENT, dealer)
        self._encode = room.codec(False, settings).encode
        self._habit = habit
        self._house.on(Joined(CLIENT), 0.0)

    def first(self) -> Reply:
        """A house is silent until it is spoken to."""
        return Reply()

    def hear(self, item: Any) -> Reply:
        """What the house answers."""
        return self._done(Garbled(CLIENT, item) if type(item) is Violation else Said(CLIENT, item))

    def leave(self, *, at_once: bool) -> Reply:
        """The room closes."""
        return self._done(Halted(at_once))

    def _done(self, event: Event[Any]) -> Reply:
        effects = self._house.on(event, 0.0)
        said = [self._encode(effect.message) for effect in effects if type(effect) is Say]
        return Reply(self._habit(said) if said else said, any(type(effect) is Drop for effect in effects))


class Step(Struct, frozen=True):
    """What is on paper between two messages of the client: the first of them (None: at the start), and the reply."""

    heard: Any
    reply: Reply


def steps(room: HouseRoom, settings: Any, paper: Transcript) -> tuple[Step, ...]:
    """The part of the house on paper. Raises ValueError where it is none that a stand can play."""
    codec = room.codec(False, settings)
    heard: list[Any] = [None]
    replies: list[Reply] = [Reply()]
    for line in paper.lines:
        match line.kind:
            case ">":
                messages = codec.feed(data(line.text))
                if not messages or any(type(message) is Violation for message in messages):
                    raise ValueError(f"{paper.name}: found {line.text!r}; allowed: whole messages of a client")
                heard += messages
                replies += (Reply() for _ in messages)
            case "<":
                replies[-1] = Reply([*replies[-1].said, data(line.text)])
            case "dropped":
                replies[-1] = Reply(replies[-1].said, closes=True)
            case "settled":
                pass
            case _:
                raise ValueError(f"{paper.name}: found a deed; allowed: talk")
    return tuple(Step(message, reply) for message, reply in zip(heard, replies, strict=True))


def kind(message: object) -> str:
    """What sort of message it is: its words, without amounts."""
    return " ".join(word for word in str(message).split() if not word.lstrip("-").isdigit())


class Paper:
    """The house's side of a transcript, as long as the client says what is on paper; the amounts are its own.

    Until it says what the paper begins with, the room's own house plays with it.
    """

    def __init__(self, script: Sequence[Step], house: Live) -> None:
        self.stray = ""
        self._script = script
        self._next = 1
        self._house = house

    @property
    def over(self) -> bool:
        """Whether all of it has been said."""
        return self._next == len(self._script)

    def first(self) -> Reply:
        """What is on paper before the client speaks."""
        return self._script[0].reply

    def hear(self, item: Any) -> Reply:
        """What is on paper behind this message."""
        if self.over:
            return self.leave(at_once=True)
        step = self._script[self._next]
        if kind(item) == kind(step.heard):
            self._next += 1
            return step.reply
        if self._next == 1:
            return self._house.hear(item)
        self.stray = f"the client said {item} where {step.heard} leads there"
        return self.leave(at_once=True)

    def leave(self, *, at_once: bool) -> Reply:  # noqa: ARG002 -- what comes behind the paper is always its end
        """The goodbye of the room."""
        return self._house.leave(at_once=True)
