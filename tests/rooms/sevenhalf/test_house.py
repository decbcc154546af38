"""The house of seven and a half: every command in every state, what is staked, and what it never tells."""

import random
from collections.abc import Mapping, Sequence
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from croupier.core.session import Timeouts
from croupier.rooms.sevenhalf import ROOM, Settings, wire
from croupier.rooms.sevenhalf.rules import bank_cards, client_cards
from tests.properties.random_session import run_session
from tests.rooms.sevenhalf import naive_rules
from tests.rooms.sevenhalf.frames import (
    BSTG,
    DRAW,
    GARBAGE,
    PASS,
    STRT,
    UNREADABLE,
    ante,
    bksc,
    card,
    erro,
    gain,
    refused,
    stbt,
)
from tests.rooms.sevenhalf.tables import Table

MOST = 2**30 - 1
BET, SEVEN = stbt(100), card("7o")
LATE, CLOSING = erro("out of time"), erro("the room closes")
DOCUMENT, LENIENT = "document", "lenient"
dialects = pytest.mark.parametrize("dialect", [DOCUMENT, LENIENT])


# Settings.


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        (Settings(bet=0), "found the starting bet 0; allowed: 1 to 1073741823"),
        (Settings(bet=-100), "found the starting bet -100; allowed: 1 to 1073741823"),
        (Settings(bet=2**30), "found the starting bet 1073741824; allowed: 1 to 1073741823"),
        (Settings(bet=101, max_bet=100), "found the starting bet 101; allowed: 1 to 100"),
        (Settings(max_bet=0), "found the largest bet 0; allowed: 1 to 1073741823"),
        (Settings(coins=-1), "found -1 coins; allowed: 0 or more"),
        (Settings(max_bet=-1), "found the largest bet -1; allowed: 1 to 1073741823"),
        (Settings(max_bet=2**30), "found the largest bet 1073741824; allowed: 1 to 1073741823"),
        (Settings(bet=2**30, max_bet=2**31), "found the largest bet 2147483648; allowed: 1 to 1073741823"),
    ],
)
def test_a_bet_that_cannot_be_is_refused_before_anybody_is_seated(settings: Settings, told: str) -> None:
    with pytest.raises(ValueError, match=f"^{told}$"):
        ROOM.house(settings, Timeouts(), False)


@pytest.mark.parametrize(("bet", "limit"), [(1, 1), (1, MOST), (MOST, MOST), (100, 100), (100, 101)])
def test_every_bet_within_the_bounds_is_told_by_stbt(bet: int, limit: int) -> None:
    """sevenhalf-7.1"""
    table = Table("7o", bet=str(bet), max_bet=str(limit))
    assert table.says(STRT) == stbt(bet)
    table.leaves()
    assert table.settled == [-bet]


def test_the_house_is_set_as_the_page_says_unless_it_is_told_otherwise() -> None:
    """sevenhalf-1.1, 1.4, 7.1 and 7.3"""
    assert Settings() == Settings(bet=100, max_bet=MOST, once=False, dialect="document")
    assert (ROOM.port, ROOM.document_port) == (1213, 1212)
    assert Timeouts().idle == 500


@pytest.mark.parametrize("bet", [1, 100, MOST])
def test_a_doubled_bet_of_any_size_can_be_paid(bet: int) -> None:
    table = Table("7o so 4c 4e", bet=str(bet))
    table.says(STRT, DRAW, DRAW)
    assert table.says(PASS) == bksc("4c 4e", "08.0") + gain(2 * bet)
    assert table.settled == [2 * bet]


# Every command in every state.

DECK = "7o 4c 1e 3b"
"""The client has 7; drawn on, it has 11 and the bank 1. If it passes the bank draws 4, 5 and 8."""

STATES: Mapping[str, tuple[Sequence[bytes], int]] = {
    "before the first game": ([], 0),
    "after STBT": ([STRT], 100),
    "after a card": ([STRT, DRAW], 100),
    "after an ANTE": ([STRT, DRAW, ante(10)], 110),
    "after two ANTEs": ([STRT, DRAW, ante(10), ante(5)], 115),
    "after a PASS": ([STRT, DRAW, PASS], 0),
}
"""How to come there, and what is staked there."""

LISTS = {
    DOCUMENT: {
        "before the first game": "STRT",
        "after STBT": "DRAW",
        "after a card": "DRAW, ANTE, PASS",
        "after an ANTE": "DRAW, ANTE",
        "after two ANTEs": "DRAW, ANTE",
        "after a PASS": "STRT",
    },
    LENIENT: dict.fromkeys(STATES, "STRT, DRAW, ANTE, PASS")
    | {"before the first game": "STRT, DRAW", "after a PASS": "STRT, DRAW"},
}
"""The table of sevenhalf-6.7."""

WORDS = {
    "STRT": STRT,
    "DRAW": DRAW,
    "ANTE": ante(20),
    "PASS": PASS,
    "STBT": stbt(1),
    "CARD": card("1o"),
    "BSTG": BSTG,
    "BKSC": bksc("1o", "01.0"),
    "GAIN": gain(1),
}

ENDS = ([STRT, DRAW, PASS], [DRAW, PASS], [DRAW, DRAW], [PASS], [ante(1), DRAW, DRAW])


def come_to(state: str, dialect: str, **head: str) -> Table:
    table = Table(DECK, dialect=dialect, **head)
    for said in STATES[state][0]:
        table.says(said)
    table.settled.clear()
    return table


def future(table: Table, says: Sequence[bytes]) -> tuple[bytes, list[int]]:
    """All that comes of saying this, and of hanging up then."""
    answers = b"|".join(table.says(said) for said in says)
    table.leaves()
    return answers, table.settled


UNLISTED = [
    (state, dialect, code)
    for state, dialect, code in product(STATES, LISTS, WORDS)
    if code not in LISTS[dialect][state].split(", ")
]


@pytest.mark.parametrize(("state", "dialect", "code"), UNLISTED)
def test_whatever_is_not_in_the_list_is_refused_with_the_list_and_changes_nothing(
    state: str, dialect: str, code: str
) -> None:
    allowed = LISTS[dialect][state]
    for says in ENDS:
        table = come_to(state, dialect)
        assert table.says(WORDS[code]) == refused(code, allowed)
        assert table.settled == []
        assert future(table, says) == future(come_to(state, dialect), says)


NO_GAME, STARTED, HAND, RAISED = "before the first game", "after STBT", "after a card", "after an ANTE"
DRAWN = card("4c") + BSTG + bksc("1e", "01.0")
"""What is heard when the client draws on."""

ANSWERS = {
    (NO_GAME, "STRT"): (BET, -100),
    (STARTED, "DRAW"): (SEVEN, -100),
    (HAND, "DRAW"): (DRAWN + gain(-100), -100),
    (HAND, "ANTE"): (b"", -120),
    (HAND, "PASS"): (bksc("4c 1e 3b", "08.0") + gain(100), 100),
    (RAISED, "DRAW"): (DRAWN + gain(-110), -110),
    (RAISED, "ANTE"): (b"", -130),
    ("after two ANTEs", "DRAW"): (DRAWN + gain(-115), -115),
    ("after two ANTEs", "ANTE"): (b"", -135),
    ("after a PASS", "STRT"): (BET, -100),
}
"""The table of section 4: the answer, and what the game has cost when the client hangs up then."""

LENIENT_TOO = {
    (NO_GAME, "DRAW"): (SEVEN, -100),
    ("after a PASS", "DRAW"): (SEVEN, -100),
    (STARTED, "STRT"): (BET, -200),
    (STARTED, "ANTE"): (b"", -120),
    (STARTED, "PASS"): (bksc("7o", "07.0") + gain(-100), -100),
    (HAND, "STRT"): (BET, -200),
    (RAISED, "STRT"): (BET, -210),
    (RAISED, "PASS"): (bksc("4c 1e 3b", "08.0") + gain(110), 110),
    ("after two ANTEs", "STRT"): (BET, -215),
    ("after two ANTEs", "PASS"): (bksc("4c 1e 3b", "08.0") + gain(115), 115),
}
"""Sections 9.2 to 9.6."""


@pytest.mark.parametrize(
    ("dialect", "state", "code"),
    [(DOCUMENT, *both) for both in ANSWERS] + [(LENIENT, *both) for both in ANSWERS | LENIENT_TOO],
)
def test_whatever_is_allowed_is_answered_as_the_page_says(dialect: str, state: str, code: str) -> None:
    answer, net = (ANSWERS | LENIENT_TOO)[state, code]
    table = come_to(state, dialect)
    assert table.says(WORDS[code]) == answer
    table.leaves()
    assert sum(table.settled) == net


def test_the_lists_and_the_answers_speak_of_the_same_commands() -> None:
    for dialect, answers in ((DOCUMENT, ANSWERS), (LENIENT, ANSWERS | LENIENT_TOO)):
        listed = {(state, code) for state in STATES for code in LISTS[dialect][state].split(", ")}
        assert listed == set(answers)


@pytest.mark.parametrize("code", WORDS)
@pytest.mark.parametrize("state", STATES)
@dialects
def test_the_case_of_a_command_changes_nothing(state: str, dialect: str, code: str) -> None:
    word = WORDS[code]
    spelt = word[:4].lower() + word[4:]
    assert come_to(state, dialect).says(spelt) == come_to(state, dialect).says(word)


@pytest.mark.parametrize("state", STATES)
@dialects
def test_an_error_is_swallowed_in_every_state(state: str, dialect: str) -> None:
    """sevenhalf-6.6"""
    for text in ("", "no", "STRT", "x" * 99):
        table = come_to(state, dialect)
        assert table.says(erro(text)) == b""
        assert future(table, [DRAW, PASS, STRT]) == future(come_to(state, dialect), [DRAW, PASS, STRT])


@pytest.mark.parametrize("state", STATES)
@dialects
def test_garbage_ends_the_conversation_in_every_state_and_forfeits_the_bet(state: str, dialect: str) -> None:
    """sevenhalf-2.9 and 8.3"""
    table, staked = come_to(state, dialect), STATES[state][1]
    assert table.says(GARBAGE + STRT + DRAW) == UNREADABLE
    assert table.dropped
    assert table.leaves() == b""
    assert table.settled == ([-staked] if staked else [])


@pytest.mark.parametrize("said", [b"CARD zz", b"card 8O", bksc("7o 8o", "15.0"), bksc("7o", "7.00"), bksc("", "....")])
@pytest.mark.parametrize("state", STATES)
@dialects
def test_a_word_of_the_house_with_impossible_arguments_is_refused_and_nothing_changes(
    state: str, dialect: str, said: bytes
) -> None:
    """sevenhalf-6.5"""
    table = come_to(state, dialect)
    assert table.says(said).startswith(b"ERRO ")
    assert b"unreadable" not in table.says(said)
    assert table.says(said)[7:12] == said[:4].upper() + b" "
    assert not table.dropped
    assert future(table, [DRAW, PASS, STRT]) == future(come_to(state, dialect), [DRAW, PASS, STRT])


@pytest.mark.parametrize("state", STATES)
@dialects
def test_who_hangs_up_is_told_nothing_and_forfeits_what_is_staked(state: str, dialect: str) -> None:
    """sevenhalf-8.1 and 8.3"""
    table, staked = come_to(state, dialect), STATES[state][1]
    assert table.leaves() == b""
    assert table.settled == ([-staked] if staked else [])
    assert not table.dropped


@pytest.mark.parametrize("state", STATES)
@dialects
def test_who_is_silent_is_told_so_and_forfeits_what_is_staked(state: str, dialect: str) -> None:
    """sevenhalf-1.4, 8.2 and 8.3"""
    table, staked = come_to(state, dialect, idle="30"), STATES[state][1]
    assert table.waits(29.9) == b""
    assert table.waits(0.1) == LATE
    assert table.dropped
    assert table.settled == ([-staked] if staked else [])


@pytest.mark.parametrize("state", STATES)
@dialects
def test_a_room_that_closes_for_good_returns_the_bet(state: str, dialect: str) -> None:
    """sevenhalf-8.4"""
    table, staked = come_to(state, dialect), STATES[state][1]
    assert table.closes(final=True) == CLOSING
    assert table.dropped
    assert table.settled == ([0] if staked else [])


@pytest.mark.parametrize("state", STATES)
@dialects
def test_a_room_that_closes_lets_games_end_and_starts_none(state: str, dialect: str) -> None:
    """sevenhalf-8.4"""
    table, staked = come_to(state, dialect), STATES[state][1]
    if not staked:
        assert table.closes() == CLOSING
        assert table.dropped
        return
    assert table.closes() == b""
    assert not table.dropped
    assert table.says(DRAW, DRAW, PASS, STRT).endswith(CLOSING)
    assert table.dropped
    assert len(table.settled) == 1


@pytest.mark.parametrize("dialect", [DOCUMENT, LENIENT])
def test_a_closing_room_that_plays_once_drops_once(dialect: str) -> None:
    table = Table(DECK, once="yes", dialect=dialect)
    table.says(STRT, DRAW)
    table.closes()
    assert table.says(PASS) == bksc("4c 1e 3b", "08.0") + gain(100) + CLOSING
    assert table.dropped


# Raises.


@pytest.mark.parametrize(
    ("head", "bets", "told"),
    [
        ({}, [0], f"1 to {MOST - 100}"),
        ({}, [-1], f"1 to {MOST - 100}"),
        ({}, [-(2**31)], f"1 to {MOST - 100}"),
        ({}, [2**31 - 1], f"1 to {MOST - 100}"),
        ({}, [MOST - 99], f"1 to {MOST - 100}"),
        ({}, [100, MOST - 199], f"1 to {MOST - 200}"),
        ({}, [MOST - 100, 1], "no more"),
        ({"bet": "1"}, [MOST], f"1 to {MOST - 1}"),
        ({"bet": str(MOST)}, [1], "no more"),
        ({"bet": str(MOST)}, [0], "no more"),
        ({"max_bet": "150"}, [51], "1 to 50"),
        ({"max_bet": "150"}, [50, 1], "no more"),
        ({"max_bet": "150"}, [49, 2], "1 to 1"),
        ({"max_bet": "100"}, [1], "no more"),
    ],
)
@dialects
def test_an_ante_of_a_wrong_amount_is_refused_with_what_is_left(
    head: dict[str, str], bets: Sequence[int], told: str, dialect: str
) -> None:
    """sevenhalf-7.2, 7.3 and 7.4: it adds nothing."""
    table = Table("7o so 4c 4e", dialect=dialect, **head)
    table.says(STRT, DRAW)
    *good, bad = bets
    assert table.says(*(ante(coins) for coins in good)) == b""
    assert table.says(ante(bad)) == refused(f"ANTE {bad}", told)
    table.leaves()
    assert table.settled == [-(int(head.get("bet", "100")) + sum(good))]


def test_a_refused_ante_forces_nothing() -> None:
    """sevenhalf-7.4"""
    table = Table(DECK, max_bet="110")
    table.says(STRT, DRAW)
    assert table.says(ante(11)) == refused("ANTE 11", "1 to 10")
    assert table.says(PASS) == bksc("4c 1e 3b", "08.0") + gain(100)
    table.says(STRT, DRAW, ante(5))
    assert table.says(ante(6)) == refused("ANTE 6", "1 to 5")
    assert table.says(PASS) == refused("PASS", "DRAW, ANTE"), "the first one still forces a draw"


def test_an_ante_is_for_one_game() -> None:
    table = Table("7o so 4c 4e / 7o 4c 4e")
    assert table.says(STRT, DRAW, ante(10), DRAW, PASS).endswith(gain(220))
    assert table.says(STRT, DRAW, PASS) == BET + SEVEN + bksc("4c 4e", "08.0") + gain(100)


def test_an_ante_at_seven_and_a_half_forces_a_card_that_is_too_much() -> None:
    """sevenhalf-4.4 and 4.7"""
    table = Table("7o so rb 1o")
    table.says(STRT, DRAW, DRAW)
    assert table.says(ante(10), PASS) == refused("PASS", "DRAW, ANTE")
    assert table.says(DRAW) == card("rb") + BSTG + bksc("1o", "01.0") + gain(-110)


# The end of a game.


def test_a_late_pass_is_swallowed_once_until_the_next_game() -> None:
    """sevenhalf-4.8: also behind something that was refused."""
    table = Table("7o 7c rb")
    bust = BET + SEVEN + card("7c") + BSTG + bksc("rb", "00.5") + gain(-100)
    assert table.says(STRT, DRAW, DRAW) == bust
    assert table.says(DRAW) == refused("DRAW", "STRT")
    assert table.says(PASS) == b""
    assert table.says(PASS) == refused("PASS", "STRT")
    assert table.says(STRT, PASS) == BET + refused("PASS", "DRAW")
    assert table.says(DRAW, DRAW) == bust.removeprefix(BET)
    assert table.says(STRT) == BET, "an unused one is not kept"
    assert table.says(DRAW, PASS).endswith(gain(-100))
    assert table.says(PASS) == refused("PASS", "STRT")


def test_a_strict_house_swallows_no_pass() -> None:
    table = Table("7o 7c rb", strict="yes")
    table.says(STRT, DRAW, DRAW)
    assert table.says(PASS) == refused("PASS", "STRT")


def test_a_lenient_house_swallows_one_pass_and_refuses_the_next() -> None:
    table = Table("7o 7c rb", dialect=LENIENT)
    table.says(STRT, DRAW, DRAW)
    assert table.says(PASS) == b""
    assert table.says(PASS) == refused("PASS", "STRT, DRAW")
    assert table.says(DRAW, DRAW, STRT, PASS).endswith(bksc("7o", "07.0") + gain(-100))


@pytest.mark.parametrize("says", [[DRAW, PASS], [DRAW, DRAW]], ids=["pass", "bust"])
@dialects
def test_a_house_that_plays_once_closes_behind_gain_without_a_word(says: Sequence[bytes], dialect: str) -> None:
    """sevenhalf-8.5"""
    table = Table("7o 4c 4e", once="yes", dialect=dialect)
    before = table.says(STRT, *says)
    assert before[-9:-4] == b"GAIN "
    assert table.dropped
    assert table.says(STRT, PASS, DRAW) == b""
    assert len(table.settled) == 1


def test_a_house_that_plays_on_plays_on() -> None:
    table = Table(DECK)
    played = BET + SEVEN + bksc("4c 1e 3b", "08.0") + gain(100)
    assert table.says((STRT + DRAW + PASS) * 20) == played * 20
    assert table.settled == [100] * 20
    assert not table.dropped


def test_nothing_happens_by_itself_at_seven_and_a_half() -> None:
    """sevenhalf-4.7"""
    table = Table("7o so rb 1o")
    assert table.says(STRT, DRAW, DRAW) == BET + SEVEN + card("so")
    assert table.says(DRAW) == card("rb") + BSTG + bksc("1o", "01.0") + gain(-100)


@pytest.mark.parametrize("games", [300, pytest.param(30_000, marks=pytest.mark.slow)], ids=["quick", "soak"])
@dialects
def test_games_go_on_the_wire_as_the_plain_rules_say(dialect: str, games: int) -> None:
    """Byte for byte, at random, with decks in any order."""
    luck = random.Random(11)
    decks = [naive_rules.shuffled(luck) for _ in range(games)]
    table = Table(" / ".join(" ".join(deck) for deck in decks), dialect=dialect)
    for deck in decks:
        game = naive_rules.Game(deck, 100, lenient=dialect == LENIENT)
        assert table.says(STRT) == BET
        while not game.over:
            act = luck.choice(sorted(game.allowed))
            if act == "ANTE":
                coins = luck.choice([1, 10, 0x0A0D20])
                game.ante(coins)
                assert table.says(ante(coins)) == b""
                continue
            expected = b""
            if act == "DRAW":
                game.draw()
                expected = card(game.own[-1]) + (BSTG if game.over else b"")
            else:
                game.stop()
            if game.over:
                shown = naive_rules.written(naive_rules.points(*game.banks))
                expected += bksc(" ".join(game.banks), shown) + gain(game.net)
            assert table.says(DRAW if act == "DRAW" else PASS) == expected
        assert table.settled[-1] == game.net
        if luck.random() < 0.5:
            assert table.says(PASS) == (
                b"" if game.score > naive_rules.GOAL else refused("PASS", LISTS[dialect]["after a PASS"])
            )


@pytest.mark.parametrize(
    ("says", "own", "banks", "bet"),
    [
        ([], "", "", 100),
        ([DRAW], "7o", "", 100),
        ([DRAW, ante(10)], "7o", "", 110),
        ([DRAW, PASS], "7o", "so 4c 4e", 100),
        ([DRAW, DRAW, PASS], "7o so", "4c 4e", 100),
        ([DRAW, ante(10), DRAW, DRAW], "7o so 4c", "4e", 110),
    ],
)
def test_what_is_told_of_a_game_is_who_had_which_cards_and_the_bet(
    says: Sequence[bytes], own: str, banks: str, bet: int
) -> None:
    """Also of one that was given up: the record of the deals needs it."""
    table = Table("7o so 4c 4e")
    table.says(STRT, *says)
    table.leaves()
    (state,) = table.states
    assert (client_cards(state), bank_cards(state)) == (tuple(own.split()), tuple(banks.split()))
    assert state.bet == bet
    assert ROOM.dealt_cards(state) == state.cards


# Limits on time.


@pytest.mark.parametrize("refusal", [STRT, ante(0), GARBAGE[:2], stbt(1), erro("wait"), PASS + PASS[:3]])
def test_a_limit_on_a_decision_is_not_put_off_by_what_is_refused(refusal: bytes) -> None:
    """sevenhalf-1.4"""
    for says in ([STRT], [STRT, DRAW], [STRT, DRAW, ante(1)]):
        if says == [STRT, DRAW] and refusal.startswith(PASS):
            continue  # it is allowed there
        table = Table(DECK, move="10", idle="500")
        table.says(*says)
        table.waits(6)
        table.says(refusal)
        assert table.waits(3.9) == b""
        assert table.waits(0.1) == LATE
        assert table.dropped


@pytest.mark.parametrize("step", [[STRT], [STRT, DRAW], [STRT, DRAW, ante(1)], [STRT, DRAW, ante(1), ante(1)]])
def test_every_decision_has_a_limit_of_its_own(step: Sequence[bytes]) -> None:
    """sevenhalf-1.4 and P5: from the STBT, the CARD and every accepted ANTE."""
    table = Table("1o 1c 1e", move="10", idle="500")
    for said in step:
        assert table.waits(9.9) == b""
        table.says(said)
    assert table.waits(9.9) == b""
    assert table.waits(0.1) == LATE
    assert table.settled == [-100 - sum(said.startswith(b"ANTE") for said in step)]


def test_there_is_no_limit_on_a_decision_between_games() -> None:
    table = Table(DECK, move="10", idle="500")
    assert table.waits(400) == b""
    table.says(STRT, DRAW, PASS)
    assert table.waits(499.9) == b""
    assert table.waits(0.1) == LATE


def test_the_idle_limit_is_put_off_by_what_is_refused_but_not_by_half_a_message() -> None:
    """sevenhalf-1.4 and P4"""
    table = Table(DECK, idle="30")
    for _ in range(5):
        table.waits(29)
        assert table.says(DRAW) == refused("DRAW", "STRT")
    table.waits(29)
    assert table.says(b"STR") == b""
    assert table.waits(1) == LATE


def test_a_new_game_in_the_lenient_dialect_has_a_limit_of_its_own() -> None:
    table = Table(DECK, dialect=LENIENT, move="10")
    table.says(STRT)
    table.waits(9)
    assert table.says(STRT) == BET
    assert table.waits(9.9) == b""
    assert table.waits(0.1) == LATE
    assert table.settled == [-100, -100]


# What is never told, and what luck does.

COMMANDS = [STRT, DRAW, ante(10), PASS, ante(0), erro("x"), stbt(1)]


def shown(said: Sequence[bytes], order: Sequence[str], dialect: str) -> tuple[bytes, int]:
    """All that a client hears until its game is settled, and how many cards that took."""
    table = Table(" ".join(order), dialect=dialect)
    heard = b""
    for word in said:
        heard += table.says(word)
        if table.settled:
            break
    cards = heard.count(b"CARD ")
    if b"BKSC" in heard:
        cards += heard[heard.index(b"BKSC") + 8]
    return heard, cards


@given(
    st.lists(st.sampled_from(COMMANDS), max_size=12),
    st.permutations(naive_rules.DECK),
    st.randoms(use_true_random=False),
    st.sampled_from([DOCUMENT, LENIENT]),
)
def test_nothing_a_client_hears_depends_on_a_card_that_is_not_dealt(
    said: list[bytes], order: list[str], luck: random.Random, dialect: str
) -> None:
    heard, dealt = shown([STRT, *said], order, dialect)
    rest = order[dealt:]
    luck.shuffle(rest)
    assert shown([STRT, *said], [*order[:dealt], *rest], dialect) == (heard, dealt)


def test_before_the_end_all_that_is_heard_are_the_clients_own_cards() -> None:
    """Two decks that differ from the second card on sound alike until the second card is drawn."""
    for first, second in (("7o 4c 4e", "7o so 7c cc"), ("1o 1c 1e", "1o 7b rb")):
        for said in product(COMMANDS, repeat=3):
            if DRAW in said or PASS in said:
                continue
            one, other = Table(first), Table(second)
            assert one.says(STRT, DRAW, *said) == other.says(STRT, DRAW, *said)


def test_the_same_seed_deals_the_same_games() -> None:
    """G5"""
    says = (STRT + DRAW * 3 + PASS) * 30
    assert Table(seed="7").says(says) == Table(seed="7").says(says)
    assert len({Table(seed=str(seed)).says(says) for seed in range(20)}) == 20


def test_every_connection_is_dealt_from_decks_of_its_own() -> None:
    """sevenhalf-1.2 and G5: whatever the others do."""
    one, other = (
        run_session(ROOM, {"seed": "7"}, TALK[1] + TALK[2]),
        run_session(ROOM, {"seed": "7"}, TALK[2] + TALK[1]),
    )
    mixed = run_session(ROOM, {"seed": "7"}, [step for both in zip(TALK[1], TALK[2], strict=True) for step in both])
    for peer in (1, 2):
        assert one.sent_bytes(peer) == other.sent_bytes(peer) == mixed.sent_bytes(peer)
    assert one.sent_bytes(1) != one.sent_bytes(2)


TALK = {
    peer: [("says", peer, said) for _ in range(20) for said in (wire.STRT, wire.DRAW, wire.DRAW, wire.PASS)]
    for peer in (1, 2)
}


def test_every_game_is_dealt_from_a_fresh_deck() -> None:
    """sevenhalf-3.3: the order of one game tells nothing of the next, and a deck file is used in turn."""
    table = Table("1o 1c / 2o 2c")
    played = [table.says(STRT, DRAW, PASS)[14:16] for _ in range(4)]
    assert played == [b"1o", b"2o", b"1o", b"2o"]
    table = Table(seed="3")
    firsts = [table.says(STRT, DRAW, PASS)[14:16] for _ in range(400)]
    assert {first.decode() for first in firsts} == set(naive_rules.DECK)


def test_cards_that_a_deck_does_not_list_lie_below_it() -> None:
    table = Table("7o")
    said = table.says(STRT, DRAW, PASS)
    assert said.startswith(BET + SEVEN)
    drawn = said[25 : 25 + 2 * said[24]]
    assert b"7o" not in {drawn[at : at + 2] for at in range(0, len(drawn), 2)}


def test_a_closing_lenient_house_starts_no_new_game_in_the_place_of_a_running_one() -> None:
    table = Table(dialect="lenient")
    table.says(b"STRT")
    assert table.closes() == b""
    assert table.says(b"STRT") == erro("the room closes")
    assert table.dropped
    assert table.settled == [-100]
