"""Client programs that each break one rule: every one is found, on its own clause."""

import asyncio
from collections.abc import Sequence
from typing import NamedTuple

import pytest

from croupier.conformance.case import select
from croupier.conformance.conversation import UNFINISHED_MESSAGE
from croupier.conformance.results import Outcome, Result
from croupier.core.referee import CLIENT
from croupier.rooms import HOUSE_ROOMS
from tests.conformance.programs import command
from tests.conformance.suites import check_client, client_cases
from tests.sampling import one_for_each

SILENCE = 2.0
"""Seconds: a rogue that falls silent is given no more."""


class Rogue(NamedTuple):
    """A habit, the case that shows it, and the clause that it breaks there."""

    room: str
    habit: str
    case: str
    clause: str
    strict: bool = False


def _rogues(room: str, *rows: tuple[str, str, str]) -> list[Rogue]:
    return [Rogue(room, habit, f"{room}/{case}", f"{room}-{clause}") for habit, case, clause in rows]


FAILING = [
    *_rogues(
        "kuhn",
        ("silent", "4.1/p1-acts", "1.2"),
        ("argument-only", "4.1/p1-acts", "2.1"),
        ("no-space", "4.1/p1-acts", "2.1"),
        ("nul", "4.1/p1-acts", "2.1"),
        ("utf-16", "4.1/p1-acts", "2.1"),
        ("http", "4.1/p1-acts", "2.7"),
        ("says-start", "4.1/p1-acts", "2.7"),
        ("two-spaces", "4.1/p1-acts", "2.1"),
        ("third-seat", "4.1/p1-acts", "2.6"),
        ("spells-it-out", "2.2/many-games", "2.6"),
        ("complains", "4.1/p1-acts", "2.8"),
        ("calls-for-nothing", "2.2/many-games", "6.1"),
        ("checks-behind-a-bet", "4.2/p2-is-bet-at", "6.1"),
        ("acts-first", "4.1/p1-acts", "6.2"),
        ("acts-early", "4.2/p2-is-bet-at", "4.2"),
        ("acts-early", "4.5/check-check-p2", "4.2"),
        ("acts-twice", "2.2/many-games", "6.2"),
        ("acts-on", "5.3/bet-fold-p1", "6.2"),
        ("acts-when-over", "5.1/check-check-p1", "6.2"),
        ("ignores-refusals", "7.2/no-coin-for-the-ante", "6.2"),
        ("asks-twice", "4.1/p1-acts", "6.3"),
        ("shows-its-card", "4.1/p1-acts", "6.4"),
        ("crashes", "4.1/p1-acts", "4.1"),
        ("one-read", "4.2/p2-is-bet-at", "1.3"),
        ("one-read", "1.3/byte-by-byte-p1-acts", "1.3"),
        ("one-read", "1.3/glued-p2-is-bet-at", "1.3"),
        ("case-sensitive", "2.3/lower-case", "2.3"),
        ("waits-behind-a-fold", "4.7/bet-fold-p2", "4.7"),
        ("waits-behind-a-refusal", "7.3/no-coin-for-a-call", "7.3"),
    ),
    *_rogues(
        "sevenhalf",
        ("silent", "4.1/first-card", "1.2"),
        ("quotes", "4.1/first-card", "2.1"),
        ("nul", "4.1/first-card", "2.1"),
        ("utf-16", "4.1/first-card", "2.1"),
        ("http", "4.1/first-card", "2.9"),
        ("spells-it-out", "4.1/first-card", "2.2"),
        ("text-length", "4.1/first-card", "2.9"),
        ("argument-for-start", "4.1/first-card", "2.1"),
        ("hit", "4.1/first-card", "2.9"),
        ("no-space", "4.4/raises", "2.1"),
        ("text-number", "4.4/raises", "2.3"),
        ("two-bytes", "4.4/raises", "2.3"),
        ("eight-bytes", "4.4/raises", "2.3"),
        ("raises-by-nothing", "4.4/raises", "7.2"),
        ("lowers", "4.4/raises", "7.2"),
        ("little-endian", "7.3/largest-bet", "2.3"),
        ("raises-too-much", "4.4/raises", "7.3"),
        ("draws-first", "4.1/first-card", "6.1"),
        ("passes-when-over", "4.5/passes", "6.1"),
        ("two-late-passes", "4.6/over", "6.1"),
        ("draws-on", "4.6/over", "4.6"),
        ("asks-twice", "4.1/first-card", "6.2"),
        ("passes-first", "4.1/first-card", "6.2"),
        ("raises-first", "4.1/first-card", "6.2"),
        ("starts-in-a-game", "4.3/decides", "6.3"),
        ("passes-behind-a-raise", "4.4/raises", "6.4"),
        ("says-card", "4.1/first-card", "6.5"),
        ("crashes", "4.1/first-card", "4.2"),
        ("waits-at-the-best", "4.7/seven-and-a-half", "4.7"),
        ("waits-behind-a-raise", "4.4/raises", "4.4"),
        ("one-read", "1.3/byte-by-byte-first-card", "1.3"),
        ("one-message", "1.3/glued-over", "1.3"),
        ("case-sensitive", "2.7/lower-case-codes", "2.7"),
    ),
    *_rogues(
        "blackjack",
        ("silent", "4.1/balance", "1.2"),
        ("text-number", "4.1/balance", "2.3"),
        ("one-byte-move", "4.3/hits", "2.4"),
        ("quotes", "4.1/balance", "2.1"),
        ("newline", "4.1/balance", "2.1"),
        ("nul", "4.1/balance", "2.1"),
        ("lower-case", "4.1/balance", "2.5"),
        ("http", "4.1/balance", "2.10"),
        ("spells-it-out", "4.1/balance", "2.2"),
        ("eight-bytes", "4.1/balance", "2.3"),
        ("lower-case-move", "4.3/hits", "2.5"),
        ("little-endian-move", "4.3/hits", "2.4"),
        ("doubles", "4.3/hits", "2.11"),
        ("complains", "4.1/balance", "2.12"),
        ("asks-twice", "4.1/balance", "6.3"),
        ("bets-first", "4.1/balance", "6.3"),
        ("moves-first", "4.1/balance", "6.3"),
        ("bets-in-a-round", "4.3/hits", "6.3"),
        ("asks-on-at-21", "3.5/hits-to-21", "6.3"),
        ("moves-when-over", "4.4/stands", "6.3"),
        ("shows-its-card", "4.3/hits", "6.4"),
        ("bets-nothing", "4.1/balance", "6.5"),
        ("bets-less", "4.1/balance", "6.5"),
        ("bets-too-much", "4.1/balance", "6.6"),
        ("little-endian", "4.1/balance", "2.3"),
        ("bets-without-coins", "7.5/empty-purse", "6.6"),
        ("always-bets-ten", "7.2/small-purse", "6.6"),
        ("crashes", "4.1/balance", "4.1"),
        ("one-read", "1.3/byte-by-byte-balance", "1.3"),
        ("one-read", "1.3/glued-dealt", "1.3"),
        ("knows-no-ten", "2.6/tens", "2.6"),
        ("waits-for-more", "4.4/stands", "4.4"),
        ("one-bank-card", "3.8/bank-draws-many", "4.4"),
        ("waits-for-cards", "4.5/surrenders", "4.5"),
        ("counts-aces-as-one", "3.2/hits-to-21-with-an-ace", "3.2"),
    ),
    Rogue("kuhn", "quotes", "kuhn/4.1/p1-acts", "kuhn-2.5", strict=True),
    Rogue("kuhn", "newline", "kuhn/4.1/p1-acts", "kuhn-2.4", strict=True),
    Rogue("sevenhalf", "newline", "sevenhalf/4.1/first-card", "sevenhalf-2.8", strict=True),
    Rogue("sevenhalf", "late-pass", "sevenhalf/4.6/over", "sevenhalf-4.6", strict=True),
]

TELLING = [
    ("kuhn", "quotes", "4.1/p1-acts", Outcome.NON_STRICT, "as kuhn-2.5 tolerates"),
    ("kuhn", "newline", "5.1/check-check-p1", Outcome.NON_STRICT, "as kuhn-2.4 tolerates"),
    ("kuhn", "lower-case", "4.1/p1-acts", Outcome.PASS, ""),
    ("kuhn", "clings", "8.2/between-games", Outcome.CHOICE, "it kept the connection open"),
    ("kuhn", "crashes-at-the-end", "8.2/between-games", Outcome.CHOICE, "it ended by SIGABRT"),
    ("kuhn", "leaves-in-a-game", "4.1/p1-acts", Outcome.CHOICE, "it hung up in the middle of the game"),
    ("kuhn", "ends-at-once", "4.1/p1-acts", Outcome.SKIP, "ended (exit status 1) and never connected: I cannot find"),
    ("kuhn", "never-connects", "4.1/p1-acts", Outcome.SKIP, "the program ran and never connected"),
    ("kuhn", "never-leaves", "7.2/no-coin-for-the-ante", Outcome.PASS, ""),
    ("kuhn", "chatty", "4.1/p1-acts", Outcome.PASS, ""),
    ("sevenhalf", "late-pass", "4.6/over", Outcome.NON_STRICT, "as sevenhalf-4.8 tolerates"),
    ("sevenhalf", "newline", "4.5/passes", Outcome.NON_STRICT, "as sevenhalf-2.8 tolerates"),
    ("sevenhalf", "lower-case", "4.5/passes", Outcome.PASS, ""),
    ("sevenhalf", "clings", "8.2/between-games", Outcome.CHOICE, "it kept the connection open"),
    ("sevenhalf", "leaves-in-a-game", "4.1/first-card", Outcome.CHOICE, "it hung up in the middle of the game"),
    ("blackjack", "does-not-wait", "8.1/waits-for-the-last-word", Outcome.CHOICE, "it closes after its goodbye"),
    ("blackjack", "plays-on", "8.2/between-games", Outcome.CHOICE, "it kept the connection open"),
    ("blackjack", "knows-no-ten", "2.7/ten-as-two-digits", Outcome.CHOICE, "it does not accept this"),
    ("blackjack", "bets-twelve", "2.7/ten-in-every-spelling", Outcome.CHOICE, "it accepts this"),
    ("blackjack", "leaves-at-a-ten", "2.6/tens", Outcome.CHOICE, "it said goodbye there, in the middle of the game"),
    ("blackjack", "leaves-at-a-ten", "2.6/jack", Outcome.PASS, ""),
    ("blackjack", "never-connects", "4.1/balance", Outcome.SKIP, "the program ran and never connected"),
]


MAX_RUNS = 4
"""On a busy machine a case has few tries, and the end of a client after its game may be seen too late."""


def tried(
    room: str, line: str, *selections: str, strict: bool = False, seed: int = 1, silence: float = SILENCE
) -> Sequence[Result]:
    """What comes of these cases with a program."""
    house = HOUSE_ROOMS[room]
    cases = [case for selection in selections for case in select(client_cases(house), selection)]

    async def main() -> Sequence[Result]:
        async with asyncio.timeout(120):
            return await check_client(house, line, cases=cases, strict=strict, seed=seed, timeout=silence)

    return asyncio.run(main())


@pytest.mark.parametrize(
    "rogue",
    one_for_each(FAILING, lambda rogue: [rogue.clause], 3, first_of=11),
    ids=lambda rogue: "-".join((*rogue[:2], rogue.clause, *["strict"][: rogue.strict])),
)
def test_a_rogue_client_is_found_on_its_own_clause(rogue: Rogue) -> None:
    line = command(rogue.room, "client", rogue.habit)
    runs = (tried(rogue.room, line, rogue.case, strict=rogue.strict)[0] for _ in range(MAX_RUNS))
    result = next((run for run in runs if run.failure is not None), None)
    assert result is not None
    assert result.outcome is Outcome.FAIL
    assert result.failure.clause == rogue.clause, result.failure
    assert result.dialogue or rogue.clause.endswith(("-1.2", "-2.1"))


@pytest.mark.extended
@pytest.mark.parametrize("habit", ["leaves-by-chance", "leaves-with-a-jack"])
def test_a_client_that_leaves_games_is_not_blamed_for_how_the_house_speaks(habit: str) -> None:
    results = tried("kuhn", command("kuhn", "client", habit), "kuhn/3.1", "kuhn/4", "kuhn/1.3", "kuhn/2")
    assert [result for result in results if result.outcome is Outcome.FAIL] == []


def test_each_try_begins_with_another_deck() -> None:
    line = f"{command('kuhn', 'client', 'sits-second')} --games 1"
    (result,) = tried("kuhn", line, "kuhn/3.1/king")
    assert (result.outcome, result.dialogue[1].data) == (Outcome.PASS, b"CARD C_K")


@pytest.mark.extended
def test_a_client_that_never_leaves_is_not_blamed_for_its_last_game() -> None:
    line = f"{command('kuhn', 'client', 'never-leaves')} --games 4"
    results = tried("kuhn", line, "kuhn/4", "kuhn/5", "kuhn/7")
    assert [result for result in results if result.outcome is Outcome.FAIL] == []


@pytest.mark.extended
@pytest.mark.parametrize(
    ("habit", "case", "clause", "cause"),
    [
        ("one-byte-move", "blackjack/4.4/stands", "blackjack-2.4", "it sends characters of one byte"),
        ("text-number", "blackjack/4.1/balance", "blackjack-2.3", "it writes its integers as text"),
        ("two-bytes", "blackjack/4.1/balance", "blackjack-2.3", "it sends its integers in two bytes"),
    ],
)
def test_a_message_that_is_too_short_is_explained_by_a_dialect(habit: str, case: str, clause: str, cause: str) -> None:
    (result,) = tried("blackjack", command("blackjack", "client", habit), case, silence=SILENCE / 2)
    assert result.failure is not None
    assert result.failure.clause == clause
    assert str(result.failure.cause) == cause
    (unfinished,) = [line for line in result.dialogue if line.message is UNFINISHED_MESSAGE]
    assert (unfinished.side, unfinished.data) == (CLIENT, result.failure.got)


@pytest.mark.parametrize(("room", "habit", "case", "outcome", "told"), TELLING, ids=str)
def test_where_the_document_is_silent_it_is_told_what_was_seen(
    room: str, habit: str, case: str, outcome: Outcome, told: str
) -> None:
    (result,) = tried(room, command(room, "client", habit), f"{room}/{case}")
    assert result.outcome is outcome, result
    assert told in result.note


@pytest.mark.slow
@pytest.mark.parametrize(
    "rogue", FAILING, ids=lambda rogue: "-".join((*rogue[:2], rogue.clause, *["strict"][: rogue.strict]))
)
def test_a_rogue_client_is_found_on_its_own_clause_in_the_whole_run(rogue: Rogue) -> None:
    results = tried(rogue.room, command(rogue.room, "client", rogue.habit), rogue.room, strict=rogue.strict)
    assert rogue.clause in {result.failure.clause for result in results if result.failure is not None}
