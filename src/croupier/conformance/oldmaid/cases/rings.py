"""Player cases that play games in a ring: at every seat, with slow neighbours, and with neighbours that die."""

from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from typing import Final

from croupier.conformance.case import CaseList
from croupier.conformance.channel.delivery import Delivery
from croupier.conformance.deviations import NotReached
from croupier.conformance.diagnosis.cause import CUT_LETTER_CAUSE
from croupier.conformance.oldmaid.case import OldMaidCase, PlayerCase
from croupier.conformance.oldmaid.hand_order import MAX_P_VALUE, chance_of_order, is_in_order
from croupier.conformance.oldmaid.outcomes import (
    KEEPS_PAIRS,
    Failed,
    ImplementationChoice,
    NonStrict,
    may_come_from_reads,
)
from croupier.conformance.oldmaid.player_context import PlayerContext
from croupier.conformance.oldmaid.ring import ProgramRing
from croupier.conformance.oldmaid.ring_game import (
    Death,
    GameStalled,
    MessagePredicate,
    join_and_connect,
    play_game,
    share_game,
)
from croupier.rooms.oldmaid.wire import Message, Offer, Pick, Reply, YourTurn

MAX_GAMES: Final = 8
"""The number of games to play until the program has lost, or not lost."""

LATE_SECONDS: Final = 0.2
"""How long after the list the left neighbour begins to listen. Players try again for longer; the time is a setting."""

DELIVERY_SALT: Final = 21
"""The game in which messages arrive in pieces."""

LATE_SALT: Final = 22
"""The game in which a player listens late."""

FOREIGN_SALT: Final = 4
"""The game in which the nicks have letters of several bytes, which is also played with other nicks."""

FOREIGN_NICKS: Final = ("Ægir ♠", "Нина")
BRACKETS: Final = " {["

MISSING_NEIGHBOUR_CLAUSES: Final = frozenset({"oldmaid-3.16", "oldmaid-4.7", "oldmaid-9.7"})
"""What a player that does not reach its left neighbour seems to violate: it connects to another one, or to none."""

GAME_RANK: Final = 100
DELIVERY_RANK: Final = 200
DEATH_RANK: Final = 300
RESULT_RANK: Final = 400
"""Whole games come after the transcripts, those with odd delivery or deaths after the plain ones, and last what
they have shown."""


async def _whole_game(players: int, seat: int, context: PlayerContext) -> None:
    await share_game(context, players, seat, salt=players + seat)


async def _game_with_delivery(context: PlayerContext) -> None:
    """Messages arrive in pieces, or late."""
    await play_game(context, players=3, seat=1, salt=DELIVERY_SALT)


async def _game_with_foreign_letters(context: PlayerContext) -> None:
    """The nicks of the others have letters of several bytes and brackets."""
    await share_game(context, 3, 1, salt=FOREIGN_SALT)  # what fails with usual letters, too, has another cause
    try:
        nicks = [nick + BRACKETS for nick in FOREIGN_NICKS]
        await play_game(context, players=3, seat=1, salt=FOREIGN_SALT, nicks=nicks)
    except Failed as failed:
        failed.amend(clause="oldmaid-1.3")
        raise


async def _game_with_cut_letters(context: PlayerContext) -> None:
    """Letters of several bytes arrive byte by byte."""
    try:
        await play_game(context, players=3, seat=1, salt=FOREIGN_SALT, nicks=FOREIGN_NICKS)
    except Failed as failed:
        if not may_come_from_reads(failed.failure):
            raise
        with suppress(ImplementationChoice, NonStrict):  # what fails with usual letters, too, is raised
            await play_game(context, players=3, seat=1, salt=FOREIGN_SALT)
        failed.amend(cause=CUT_LETTER_CAUSE)
        raise


async def _game_with_death(clause: str, death: Death, context: PlayerContext) -> None:
    """A player dies; a stall afterwards violates this clause."""
    try:
        await play_game(context, players=4, seat=1, salt=death.salt, death=death)
    except GameStalled as stalled:
        stalled.amend(clause=f"oldmaid-{clause}")
        raise


async def _game_with_late_listener(context: PlayerContext) -> None:
    """The left neighbour does not listen yet when the list arrives."""
    try:
        await play_game(context, players=3, seat=0, salt=LATE_SALT, late_seconds=LATE_SECONDS)
    except Failed as failed:
        if failed.failure.clause in MISSING_NEIGHBOUR_CLAUSES:
            failed.amend(clause="oldmaid-9.5")
        raise


async def program_joins(context: PlayerContext) -> None:
    """The program connects to the table and joins."""
    await context.share(join_and_connect, "join")


async def program_listens(context: PlayerContext) -> None:
    """The program accepts connections after it has joined, before the list arrives."""
    failure = await context.share(join_and_connect, "join")
    if failure is not None:
        raise failure


async def _needs_no_tolerance(clause: str, description: str, context: PlayerContext) -> None:
    """The program needs no tolerance of this clause in a game of two."""
    ring = await share_game(context, 2, 0, salt=2)
    if clause in ring.tolerated:
        raise NonStrict(description)


async def _play_until_result(context: PlayerContext, *, loses: bool) -> None:
    """Find a game of the run that the program has lost, or has not lost; play games of two until there is one."""
    if any((ring.referee.loser == ring.endpoints.nick) is loses for ring in context.shared_results(ProgramRing)):
        return
    for salt in range(MAX_GAMES):
        ring = await share_game(context, 2, salt % 2, salt=2 + salt)
        if (ring.referee.loser == ring.endpoints.nick) is loses:
            return
    raise NotReached(f"in {MAX_GAMES} games of two it has {'not lost' if loses else 'always lost'}")


async def _time_of_discards(context: PlayerContext) -> None:
    ring = await share_game(context, 2, 0, salt=2)
    if ring.referee.players[ring.endpoints.nick or ""].keeps_pairs:
        raise ImplementationChoice(KEEPS_PAIRS)


async def _claims_of_last_cards(context: PlayerContext) -> None:
    """Look whether it has called a pair its last cards in a game of two, and had others."""
    ring = await share_game(context, 2, 0, salt=2)
    discard = ring.referee.players[ring.endpoints.nick or ""].wrong_last_cards
    if discard is not None:
        raise Failed("oldmaid-5.10", f"{discard} with other cards left", "last_cards false while it has other cards")


async def _hand_in_random_order(context: PlayerContext) -> None:
    """Look at the first card that was picked from it in each game of the run; play games of two until they suffice."""
    for salt in range(MAX_GAMES + 1):
        rings = context.shared_results(ProgramRing)
        picked = [ring.hand_order.first_picked for ring in rings if ring.hand_order.first_picked is not None]
        if not is_in_order(picked):
            return
        if chance_of_order(picked) <= MAX_P_VALUE:
            found = f"the cards in one order in all {len(picked)} games: that of their receipt, or a sorted one"
            raise Failed("oldmaid-7.8", found, "every card at a random place, or a shuffled hand")
        if salt < MAX_GAMES:
            await share_game(context, 2, salt % 2, salt=2 + salt)
    raise NotReached(f"in {len(picked)} games too few cards were picked from it")


def _is_a(kind: type[Message]) -> MessagePredicate:
    return lambda message: isinstance(message, kind)


def _is_plain(result: str) -> MessagePredicate:
    """An answer without a card."""
    return lambda message: isinstance(message, Reply) and message.result == result and message.card is None


def _gives_card(message: Message) -> bool:
    return isinstance(message, Reply) and message.card is not None


SEAT_CASES: Final = (
    ("first-of-two", "The first of two", 2, 0, "1.2"),
    ("last-of-two", "The last of two", 2, 1, "1.2"),
    ("first-of-three", "The first of three", 3, 0, "4.7"),
    ("middle-of-three", "The second of three", 3, 1, "4.8"),
    ("last-of-three", "The last of three", 3, 2, "3.16"),
    ("first-of-four", "The first of four, which draws the last card", 4, 0, "7.1"),
    ("middle-of-four", "The third of four", 4, 2, "7.2"),
    ("last-of-five", "The last of five", 5, 4, "3.16"),
    ("middle-of-six", "The fourth of six", 6, 3, "7.8"),
    ("first-of-eight", "The first of eight", 8, 0, "7.9"),
    ("middle-of-eight", "The fifth of eight, which draws the last card", 8, 4, "4.9"),
    ("last-of-eight", "The last of eight", 8, 7, "7.9"),
)

DELIVERY_CASES: Final = (
    ("byte-by-byte", "Messages arrive byte by byte", 1, 0.0),
    ("in-threes", "Messages arrive in small pieces", 3, 0.001),
    ("slow", "The others are slow", 0, 0.02),
    ("halves", "Messages arrive in two pieces", 20, 0.01),
)

DEATH_CASES: Final[Sequence[tuple[str, str, str, Death]]] = (
    ("9.7", "right-dies-passing-on", "instead of passing the turn on", Death(_is_a(YourTurn), 4)),
    ("9.7", "right-dies-early", "before passing its first turn on", Death(_is_a(YourTurn), 1)),
    ("9.6", "left-dies-picking", "instead of picking", Death(_is_a(Pick), 1)),
    ("9.6", "left-dies-picking-later", "instead of picking its second card", Death(_is_a(Pick), 2)),
    ("9.8", "right-dies-offering", "instead of offering", Death(_is_a(Offer), 2)),
    ("9.6", "left-dies-asked", "when it is offered a hand", Death(_is_plain("out"), 1, 35)),
    ("9.8", "right-dies-giving", "instead of giving the card", Death(_gives_card, 1, 35)),
    ("9.7", "left-dies-in-turn", "when it is its turn to draw", Death(_is_plain("ok"), 3, 35)),
)
"""The clause, the slug, which begins with the neighbour that disconnects, and the message that it does not send."""

TOLERANCES: Final = (
    ("3.5", "it names a port of its own in join, and does not listen where it comes from"),
    ("2.6", "last_cards is a boolean"),
    ("2.7", "the key is last_card"),
    ("2.8", "last_cards is missing"),
    ("7.4", "it picks the card after the last one"),
)


def cases() -> Sequence[PlayerCase]:
    """Return the cases that play games in a ring."""
    found = CaseList[PlayerCase](OldMaidCase, "oldmaid", rank=GAME_RANK)
    for slug, title, players, seat, clause in SEAT_CASES:
        found.add(clause, slug, f"{title}: a whole game")(partial(_whole_game, players, seat))
    for slug, title, chop, delay in DELIVERY_CASES:
        found.add("1.4", slug, f"{title}: a whole game", rank=DELIVERY_RANK, delivery=Delivery(chop, delay))(
            _game_with_delivery
        )
    found.add("1.3", "letters-of-the-world", "The nicks of the others have any letters: a whole game")(
        _game_with_foreign_letters
    )
    found.add(
        "1.4",
        "cut-letters",
        "Letters of several bytes arrive byte by byte: a whole game",
        rank=DELIVERY_RANK,
        delivery=Delivery(1, 0.001),
    )(_game_with_cut_letters)
    for clause, slug, when, death in DEATH_CASES:
        title = f"The {slug.partition('-')[0]} neighbour disconnects {when}"
        is_ruled = clause in {"9.7", "9.8"}
        found.add(clause, slug, title, rank=DEATH_RANK, failure_is_choice=is_ruled)(
            partial(_game_with_death, clause, death)
        )
    found.add("9.5", "left-listens-late", "The left neighbour begins to listen after the list", rank=DEATH_RANK)(
        _game_with_late_listener
    )
    for clause, description in TOLERANCES:
        title = f"Not tolerated with --strict: {description}"
        found.add(clause, "departure", title)(partial(_needs_no_tolerance, f"oldmaid-{clause}", description))
    found.add("3.1", "joins", "The player joins with its nick", rank=0)(program_joins)
    found.add("3.17", "listens", "The player accepts connections before the game starts", rank=1)(program_listens)
    for clause, slug, title, loses in (
        ("7.11", "keeps-the-maid", "The player that keeps the old maid has lost", True),
        ("6.1", "rid-of-her", "A player that is out of cards reports it", False),
    ):
        found.add(clause, slug, title, rank=RESULT_RANK)(partial(_play_until_result, loses=loses))
    found.add("5.13", "time-of-discards", "Pairs go at once, or when all cards are drawn", rank=RESULT_RANK)(
        _time_of_discards
    )
    found.add("5.10", "last-cards", "It calls no pair its last cards while it has others", rank=RESULT_RANK)(
        _claims_of_last_cards
    )
    found.add("7.8", "random-place", "A card is put at a random place in the hand", rank=RESULT_RANK)(
        _hand_in_random_order
    )
    return found
