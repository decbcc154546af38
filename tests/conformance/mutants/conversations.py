"""Faults of a whole conversation and unfair decks, in every room."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from tests.conformance.mutants import decks
from tests.conformance.mutants.mutation import Mutation, Situation, text_of
from tests.rooms.conversation_fixture import HANG_UP

type Clauses = frozenset[str]

GAMES = (1, 2, 3)
"""After this many games a house does not go on."""


@dataclass(frozen=True)
class ConversationTable:
    """What these faults need to know of a room.

    `greetings` are what a house may say first, each with the clauses that it breaks. `start` is how the client begins a
    game, `refusal` the reply that refuses it. `closes` maps words to what a house says before it closes after a game,
    with the clauses; `errors` are the beginnings of refusals, and `ends` maps words to what follows the first one, with
    the clauses. `next_clauses` say that games follow each other.
    """

    name: str
    greetings: Mapping[bytes, Clauses]
    start: str
    refusal: bytes
    errors: tuple[bytes, ...]
    next_clauses: Clauses
    refused_clauses: Clauses
    closes: Mapping[str, tuple[Sequence[bytes], Clauses]]
    ends: Mapping[str, tuple[Callable[[list[bytes]], Sequence[bytes]], Clauses]]
    state: str = "between games"


def conversation_faults(room: ConversationTable) -> Iterator[Mutation]:
    """Wrong greetings, conversations that end after a game, and conversations that end with an error."""
    new = partial(Mutation, room=room.name, role="server", operator="converses wrongly")
    for word, broken in room.greetings.items():
        yield new(
            state="at the start",
            what=f"greets with {word.decode('latin-1').encode('unicode_escape').decode()}",
            clauses=broken,
            change=lambda situation, messages, word=word: [word] if situation.message is None else messages,
        )
    for games in GAMES:
        for what, (last, broken) in room.closes.items():
            yield new(
                state=room.state,
                what=f"closes after game {games}{what}",
                clauses=broken,
                change=lambda situation, messages, games=games, last=last: (
                    [*last, HANG_UP] if situation.games == games and _starts(room, situation) else messages
                ),
            )
        yield new(
            state=room.state,
            what=f"refuses game {games + 1}",
            clauses=room.refused_clauses,
            change=lambda situation, messages, games=games: (
                [room.refusal] if situation.games >= games and _starts(room, situation) else messages
            ),
        )
        yield new(
            state=room.state,
            what=f"ends silently after game {games}",
            clauses=room.next_clauses,
            change=lambda situation, messages, games=games: [] if situation.games >= games else messages,
        )
    for what, (end, broken) in room.ends.items():
        yield new(
            state="always",
            what=f"ends at its first error{what}",
            clauses=broken,
            change=lambda _, messages, end=end: (
                end(messages) if len(messages) == 1 and messages[0].startswith(room.errors) else messages
            ),
        )


def _starts(room: ConversationTable, situation: Situation) -> bool:
    return text_of(situation.message).startswith(room.start)


def unfair_deals(
    room: str, fair: Clauses, missing: Clauses, cards: Mapping[int, str], *, can_double: bool = True
) -> Iterator[Mutation]:
    """Unfair decks, which break `fair`. `missing` are further clauses that a deck without a card breaks.

    `cards` are some cards of the deck by their numbers. `can_double`: the rules of the room can play with a card that
    is there twice.
    """
    new = partial(Mutation, room=room, role="server", operator="deals unfairly", state="always")
    yield new(what="no shuffle", clauses=fair, dealer=decks.unshuffled)
    yield new(what="one shuffle for a connection", clauses=fair, dealer=decks.shuffled_once)
    if can_double:
        yield new(what="the first card twice", clauses=fair, dealer=decks.with_first_twice)
        yield new(what="a deck for every card", clauses=fair, dealer=decks.with_replacement)
        yield new(what="the deck is carried over", clauses=fair, dealer=decks.carried_over)
    for number, card in cards.items():
        yield new(what=f"no {card}", clauses=fair | missing, dealer=decks.without_cards(number))
        yield new(what=f"always {card} first", clauses=fair, dealer=decks.with_cards_first(number))


def reads_one_case_only(
    room: str, clauses: Clauses, codes: Sequence[bytes], code_bytes: int | None = None
) -> Iterator[Mutation]:
    """Houses that take one case of letters only, in the first bytes of a message (None: in all of it).

    `codes` are the codes with which a message begins: a read that begins in another way goes on with a message.
    """

    def reads(data: bytes, cased: Callable[[bytes], bytes]) -> bytes:
        is_start = data[:4].upper() in codes
        return b"????" if is_start and data[:code_bytes] != cased(data[:code_bytes]) else data

    for what, cased in (("capital letters", bytes.upper), ("small letters", bytes.lower)):
        yield Mutation(
            room=room,
            role="server",
            operator="converses wrongly",
            state="always",
            what=f"understands {what} only",
            clauses=clauses,
            new_reader=lambda room, cased=cased: lambda data: [reads(data, cased)],
        )
