"""House of seven and a half: all commands in all states, stakes, and information leaks."""

import random
from collections.abc import Mapping, Sequence
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from croupier.core.bank import bank_cards, client_cards
from croupier.core.session import Timeouts
from croupier.rooms.sevenhalf import ROOM, Settings, wire
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
from tests.sampling import in_one_test

MOST = 2**30 - 1
BET, SEVEN = stbt(100), card("7o")
LATE, CLOSING = erro("out of time"), erro("the room closes")
DOCUMENT, LENIENT = "document", "lenient"
dialects = pytest.mark.parametrize("dialect", [DOCUMENT, LENIENT])


# Settings.


@pytest.mark.parametrize(
    ("settings", "description"),
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
def test_invalid_bet_is_refused_at_configuration(settings: Settings, description: str) -> None:
    with pytest.raises(ValueError, match=f"^{description}$"):
        ROOM.house(settings, Timeouts(), False)


@pytest.mark.parametrize(("bet", "limit"), [(1, 1), (1, MOST), (MOST, MOST), (100, 100), (100, 101)])
def test_stbt_carries_the_configured_bet(bet: int, limit: int) -> None:
    """sevenhalf-7.1"""
    table = Table("7o", bet=str(bet), max_bet=str(limit))
    assert table.send(STRT) == stbt(bet)
    table.disconnect()
    assert table.settled == [-bet]


def test_default_settings_are_those_of_the_protocol() -> None:
    """sevenhalf-1.1, 1.4, 7.1 and 7.3"""
    assert Settings() == Settings(bet=100, max_bet=MOST, once=False, dialect="document")
    assert (ROOM.port, ROOM.document_port) == (1213, 1212)
    assert Timeouts().idle == 500


@pytest.mark.parametrize("bet", [1, 100, MOST])
def test_a_doubled_bet_of_any_size_can_be_paid(bet: int) -> None:
    table = Table("7o so 4c 4e", bet=str(bet))
    table.send(STRT, DRAW, DRAW)
    assert table.send(PASS) == bksc("4c 4e", "08.0") + gain(2 * bet)
    assert table.settled == [2 * bet]


# Every command in every state.

DECK = "7o 4c 1e 3b"
"""The client has 7; if it draws, it has 11 and the bank 1. If it passes, the bank draws 4, 5 and 8."""

STATES: Mapping[str, tuple[Sequence[bytes], int]] = {
    "before the first game": ([], 0),
    "after STBT": ([STRT], 100),
    "after a card": ([STRT, DRAW], 100),
    "after an ANTE": ([STRT, DRAW, ante(10)], 110),
    "after two ANTEs": ([STRT, DRAW, ante(10), ante(5)], 115),
    "after a PASS": ([STRT, DRAW, PASS], 0),
}
"""The commands that lead to each state, and the stake there."""

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


def table_in_state(state: str, dialect: str, **head: str) -> Table:
    table = Table(DECK, dialect=dialect, **head)
    for sent in STATES[state][0]:
        table.send(sent)
    table.settled.clear()
    return table


def future(table: Table, says: Sequence[bytes]) -> tuple[bytes, list[int]]:
    """The output for some commands followed by a disconnect, and the nets."""
    answers = b"|".join(table.send(sent) for sent in says)
    table.disconnect()
    return answers, table.settled


UNLISTED = [
    (state, dialect, code)
    for state, dialect, code in product(STATES, LISTS, WORDS)
    if code not in LISTS[dialect][state].split(", ")
]


@in_one_test
@pytest.mark.parametrize(("state", "dialect", "code"), UNLISTED)
def test_commands_not_allowed_are_refused_without_effect(state: str, dialect: str, code: str) -> None:
    allowed = LISTS[dialect][state]
    for says in ENDS:
        table = table_in_state(state, dialect)
        assert table.send(WORDS[code]) == refused(code, allowed)
        assert table.settled == []
        assert future(table, says) == future(table_in_state(state, dialect), says)


NO_GAME, STARTED, HAND, RAISED = "before the first game", "after STBT", "after a card", "after an ANTE"
DRAWN = card("4c") + BSTG + bksc("1e", "01.0")
"""The answer when the client draws again."""

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
"""The table of section 4: the answer, and the loss if the client disconnects afterwards."""

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
def test_allowed_commands_have_the_documented_answers(dialect: str, state: str, code: str) -> None:
    answer, net = (ANSWERS | LENIENT_TOO)[state, code]
    table = table_in_state(state, dialect)
    assert table.send(WORDS[code]) == answer
    table.disconnect()
    assert sum(table.settled) == net


def test_allowed_lists_match_the_answers() -> None:
    for dialect, answers in ((DOCUMENT, ANSWERS), (LENIENT, ANSWERS | LENIENT_TOO)):
        listed = {(state, code) for state in STATES for code in LISTS[dialect][state].split(", ")}
        assert listed == set(answers)


@in_one_test
@pytest.mark.parametrize("code", WORDS)
@pytest.mark.parametrize("state", STATES)
@dialects
def test_the_case_of_a_command_changes_nothing(state: str, dialect: str, code: str) -> None:
    word = WORDS[code]
    written = word[:4].lower() + word[4:]
    assert table_in_state(state, dialect).send(written) == table_in_state(state, dialect).send(word)


@pytest.mark.parametrize("state", STATES)
@dialects
def test_erro_is_ignored_in_every_state(state: str, dialect: str) -> None:
    """sevenhalf-6.6"""
    for text in ("", "no", "STRT", "x" * 99):
        table = table_in_state(state, dialect)
        assert table.send(erro(text)) == b""
        assert future(table, [DRAW, PASS, STRT]) == future(table_in_state(state, dialect), [DRAW, PASS, STRT])


@pytest.mark.parametrize("state", STATES)
@dialects
def test_malformed_input_closes_and_forfeits_the_bet(state: str, dialect: str) -> None:
    """sevenhalf-2.9 and 8.3"""
    table, staked = table_in_state(state, dialect), STATES[state][1]
    assert table.send(GARBAGE + STRT + DRAW) == UNREADABLE
    assert table.dropped
    assert table.disconnect() == b""
    assert table.settled == ([-staked] if staked else [])


@in_one_test
@pytest.mark.parametrize("sent", [b"CARD zz", b"card 8O", bksc("7o 8o", "15.0"), bksc("7o", "7.00"), bksc("", "....")])
@pytest.mark.parametrize("state", STATES)
@dialects
def test_house_message_with_invalid_arguments_is_refused_without_effect(state: str, dialect: str, sent: bytes) -> None:
    """sevenhalf-6.5"""
    table = table_in_state(state, dialect)
    assert table.send(sent).startswith(b"ERRO ")
    assert b"unreadable" not in table.send(sent)
    assert table.send(sent)[7:12] == sent[:4].upper() + b" "
    assert not table.dropped
    assert future(table, [DRAW, PASS, STRT]) == future(table_in_state(state, dialect), [DRAW, PASS, STRT])


@pytest.mark.parametrize("state", STATES)
@dialects
def test_disconnected_client_forfeits_its_stake(state: str, dialect: str) -> None:
    """sevenhalf-8.1 and 8.3"""
    table, staked = table_in_state(state, dialect), STATES[state][1]
    assert table.disconnect() == b""
    assert table.settled == ([-staked] if staked else [])
    assert not table.dropped


@pytest.mark.parametrize("state", STATES)
@dialects
def test_silent_client_gets_a_message_and_forfeits_its_stake(state: str, dialect: str) -> None:
    """sevenhalf-1.4, 8.2 and 8.3"""
    table, staked = table_in_state(state, dialect, idle="30"), STATES[state][1]
    assert table.wait(29.9) == b""
    assert table.wait(0.1) == LATE
    assert table.dropped
    assert table.settled == ([-staked] if staked else [])


@pytest.mark.parametrize("state", STATES)
@dialects
def test_final_close_returns_the_bet(state: str, dialect: str) -> None:
    """sevenhalf-8.4"""
    table, staked = table_in_state(state, dialect), STATES[state][1]
    assert table.close(final=True) == CLOSING
    assert table.dropped
    assert table.settled == ([0] if staked else [])


@pytest.mark.parametrize("state", STATES)
@dialects
def test_closing_room_finishes_games_and_starts_none(state: str, dialect: str) -> None:
    """sevenhalf-8.4"""
    table, staked = table_in_state(state, dialect), STATES[state][1]
    if not staked:
        assert table.close() == CLOSING
        assert table.dropped
        return
    assert table.close() == b""
    assert not table.dropped
    assert table.send(DRAW, DRAW, PASS, STRT).endswith(CLOSING)
    assert table.dropped
    assert len(table.settled) == 1


@pytest.mark.parametrize("dialect", [DOCUMENT, LENIENT])
def test_closing_single_game_house_drops_the_client_once(dialect: str) -> None:
    table = Table(DECK, once="yes", dialect=dialect)
    table.send(STRT, DRAW)
    table.close()
    assert table.send(PASS) == bksc("4c 1e 3b", "08.0") + gain(100) + CLOSING
    assert table.dropped


# Raises.


@pytest.mark.parametrize(
    ("head", "bets", "description"),
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
def test_ante_out_of_range_is_refused_with_the_range(
    head: dict[str, str], bets: Sequence[int], description: str, dialect: str
) -> None:
    """sevenhalf-7.2, 7.3 and 7.4: the bet does not change."""
    table = Table("7o so 4c 4e", dialect=dialect, **head)
    table.send(STRT, DRAW)
    *good, bad = bets
    assert table.send(*(ante(coins) for coins in good)) == b""
    assert table.send(ante(bad)) == refused(f"ANTE {bad}", description)
    table.disconnect()
    assert table.settled == [-(int(head.get("bet", "100")) + sum(good))]


def test_refused_ante_does_not_force_a_draw() -> None:
    """sevenhalf-7.4"""
    table = Table(DECK, max_bet="110")
    table.send(STRT, DRAW)
    assert table.send(ante(11)) == refused("ANTE 11", "1 to 10")
    assert table.send(PASS) == bksc("4c 1e 3b", "08.0") + gain(100)
    table.send(STRT, DRAW, ante(5))
    assert table.send(ante(6)) == refused("ANTE 6", "1 to 5")
    assert table.send(PASS) == refused("PASS", "DRAW, ANTE"), "the accepted ANTE still forces a draw"


def test_ante_applies_to_one_game() -> None:
    table = Table("7o so 4c 4e / 7o 4c 4e")
    assert table.send(STRT, DRAW, ante(10), DRAW, PASS).endswith(gain(220))
    assert table.send(STRT, DRAW, PASS) == BET + SEVEN + bksc("4c 4e", "08.0") + gain(100)


def test_ante_at_seven_and_a_half_forces_a_bust() -> None:
    """sevenhalf-4.4 and 4.7"""
    table = Table("7o so rb 1o")
    table.send(STRT, DRAW, DRAW)
    assert table.send(ante(10), PASS) == refused("PASS", "DRAW, ANTE")
    assert table.send(DRAW) == card("rb") + BSTG + bksc("1o", "01.0") + gain(-110)


# The end of a game.


def test_late_pass_is_ignored_once_per_game() -> None:
    """sevenhalf-4.8: also after a refused command."""
    table = Table("7o 7c rb")
    bust = BET + SEVEN + card("7c") + BSTG + bksc("rb", "00.5") + gain(-100)
    assert table.send(STRT, DRAW, DRAW) == bust
    assert table.send(DRAW) == refused("DRAW", "STRT")
    assert table.send(PASS) == b""
    assert table.send(PASS) == refused("PASS", "STRT")
    assert table.send(STRT, PASS) == BET + refused("PASS", "DRAW")
    assert table.send(DRAW, DRAW) == bust.removeprefix(BET)
    assert table.send(STRT) == BET, "an unused one is not kept"
    assert table.send(DRAW, PASS).endswith(gain(-100))
    assert table.send(PASS) == refused("PASS", "STRT")


def test_strict_house_refuses_a_late_pass() -> None:
    table = Table("7o 7c rb", strict="yes")
    table.send(STRT, DRAW, DRAW)
    assert table.send(PASS) == refused("PASS", "STRT")


def test_lenient_house_ignores_one_late_pass_and_refuses_the_next() -> None:
    table = Table("7o 7c rb", dialect=LENIENT)
    table.send(STRT, DRAW, DRAW)
    assert table.send(PASS) == b""
    assert table.send(PASS) == refused("PASS", "STRT, DRAW")
    assert table.send(DRAW, DRAW, STRT, PASS).endswith(bksc("7o", "07.0") + gain(-100))


@pytest.mark.parametrize("says", [[DRAW, PASS], [DRAW, DRAW]], ids=["pass", "bust"])
@dialects
def test_single_game_house_closes_after_gain(says: Sequence[bytes], dialect: str) -> None:
    """sevenhalf-8.5"""
    table = Table("7o 4c 4e", once="yes", dialect=dialect)
    before = table.send(STRT, *says)
    assert before[-9:-4] == b"GAIN "
    assert table.dropped
    assert table.send(STRT, PASS, DRAW) == b""
    assert len(table.settled) == 1


def test_default_house_stays_open_after_a_game() -> None:
    table = Table(DECK)
    played = BET + SEVEN + bksc("4c 1e 3b", "08.0") + gain(100)
    assert table.send((STRT + DRAW + PASS) * 20) == played * 20
    assert table.settled == [100] * 20
    assert not table.dropped


def test_seven_and_a_half_does_not_end_the_turn() -> None:
    """sevenhalf-4.7"""
    table = Table("7o so rb 1o")
    assert table.send(STRT, DRAW, DRAW) == BET + SEVEN + card("so")
    assert table.send(DRAW) == card("rb") + BSTG + bksc("1o", "01.0") + gain(-100)


@pytest.mark.parametrize("games", [300, pytest.param(30_000, marks=pytest.mark.slow)], ids=["quick", "soak"])
@dialects
def test_random_games_match_the_naive_rules_on_the_wire(dialect: str, games: int) -> None:
    """Byte for byte, with random commands and decks."""
    luck = random.Random(11)
    decks = [naive_rules.shuffled(luck) for _ in range(games)]
    table = Table(" / ".join(" ".join(deck) for deck in decks), dialect=dialect)
    for deck in decks:
        game = naive_rules.Game(deck, 100, lenient=dialect == LENIENT)
        assert table.send(STRT) == BET
        while not game.over:
            act = luck.choice(sorted(game.allowed))
            if act == "ANTE":
                coins = luck.choice([1, 10, 0x0A0D20])
                game.ante(coins)
                assert table.send(ante(coins)) == b""
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
            assert table.send(DRAW if act == "DRAW" else PASS) == expected
        assert table.settled[-1] == game.net
        if luck.random() < 0.5:
            assert table.send(PASS) == (
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
def test_settle_state_has_the_cards_and_the_bet(says: Sequence[bytes], own: str, banks: str, bet: int) -> None:
    """Also for an abandoned game: the deal record needs it."""
    table = Table("7o so 4c 4e")
    table.send(STRT, *says)
    table.disconnect()
    (state,) = table.states
    assert (client_cards(state), bank_cards(state)) == (tuple(own.split()), tuple(banks.split()))
    assert state.bet == bet
    assert ROOM.dealt_cards(state) == state.cards


# Limits on time.


@pytest.mark.parametrize("refusal", [STRT, ante(0), GARBAGE[:2], stbt(1), erro("wait"), PASS + PASS[:3]])
def test_refused_commands_do_not_extend_the_move_timeout(refusal: bytes) -> None:
    """sevenhalf-1.4"""
    for says in ([STRT], [STRT, DRAW], [STRT, DRAW, ante(1)]):
        if says == [STRT, DRAW] and refusal.startswith(PASS):
            continue  # it is allowed there
        table = Table(DECK, move="10", idle="500")
        table.send(*says)
        table.wait(6)
        table.send(refusal)
        assert table.wait(3.9) == b""
        assert table.wait(0.1) == LATE
        assert table.dropped


@pytest.mark.parametrize("step", [[STRT], [STRT, DRAW], [STRT, DRAW, ante(1)], [STRT, DRAW, ante(1), ante(1)]])
def test_each_decision_has_its_own_move_timeout(step: Sequence[bytes]) -> None:
    """sevenhalf-1.4 and P5: from the STBT, the CARD and every accepted ANTE."""
    table = Table("1o 1c 1e", move="10", idle="500")
    for sent in step:
        assert table.wait(9.9) == b""
        table.send(sent)
    assert table.wait(9.9) == b""
    assert table.wait(0.1) == LATE
    assert table.settled == [-100 - sum(sent.startswith(b"ANTE") for sent in step)]


def test_no_move_timeout_between_games() -> None:
    table = Table(DECK, move="10", idle="500")
    assert table.wait(400) == b""
    table.send(STRT, DRAW, PASS)
    assert table.wait(499.9) == b""
    assert table.wait(0.1) == LATE


def test_idle_timeout_restarts_with_complete_messages_only() -> None:
    """sevenhalf-1.4 and P4"""
    table = Table(DECK, idle="30")
    for _ in range(5):
        table.wait(29)
        assert table.send(DRAW) == refused("DRAW", "STRT")
    table.wait(29)
    assert table.send(b"STR") == b""
    assert table.wait(1) == LATE


def test_new_lenient_game_has_its_own_move_timeout() -> None:
    table = Table(DECK, dialect=LENIENT, move="10")
    table.send(STRT)
    table.wait(9)
    assert table.send(STRT) == BET
    assert table.wait(9.9) == b""
    assert table.wait(0.1) == LATE
    assert table.settled == [-100, -100]


# Information leaks and randomness.

COMMANDS = [STRT, DRAW, ante(10), PASS, ante(0), erro("x"), stbt(1)]


def shown(sent: Sequence[bytes], order: Sequence[str], dialect: str) -> tuple[bytes, int]:
    """The output until the game is settled, and the number of cards dealt for it."""
    table = Table(" ".join(order), dialect=dialect)
    received = b""
    for word in sent:
        received += table.send(word)
        if table.settled:
            break
    cards = received.count(b"CARD ")
    if b"BKSC" in received:
        cards += received[received.index(b"BKSC") + 8]
    return received, cards


@given(
    st.lists(st.sampled_from(COMMANDS), max_size=12),
    st.permutations(naive_rules.DECK),
    st.randoms(use_true_random=False),
    st.sampled_from([DOCUMENT, LENIENT]),
)
def test_undealt_cards_do_not_leak(sent: list[bytes], order: list[str], luck: random.Random, dialect: str) -> None:
    received, dealt = shown([STRT, *sent], order, dialect)
    rest = order[dealt:]
    luck.shuffle(rest)
    assert shown([STRT, *sent], [*order[:dealt], *rest], dialect) == (received, dealt)


def test_client_receives_only_its_own_cards_before_the_end() -> None:
    """Two decks that differ from the second card on give the same output until the second card is drawn."""
    for first, second in (("7o 4c 4e", "7o so 7c cc"), ("1o 1c 1e", "1o 7b rb")):
        for sent in product(COMMANDS, repeat=3):
            if DRAW in sent or PASS in sent:
                continue
            one, other = Table(first), Table(second)
            assert one.send(STRT, DRAW, *sent) == other.send(STRT, DRAW, *sent)


def test_the_same_seed_deals_the_same_games() -> None:
    """G5"""
    says = (STRT + DRAW * 3 + PASS) * 30
    assert Table(seed="7").send(says) == Table(seed="7").send(says)
    assert len({Table(seed=str(seed)).send(says) for seed in range(20)}) == 20


def test_each_connection_has_its_own_decks() -> None:
    """sevenhalf-1.2 and G5: independent of other connections."""
    one, other = (
        run_session(ROOM, {"seed": "7"}, TALK[1] + TALK[2]),
        run_session(ROOM, {"seed": "7"}, TALK[2] + TALK[1]),
    )
    mixed = run_session(ROOM, {"seed": "7"}, [step for both in zip(TALK[1], TALK[2], strict=True) for step in both])
    for peer in (1, 2):
        assert one.sent_bytes(peer) == other.sent_bytes(peer) == mixed.sent_bytes(peer)
    assert one.sent_bytes(1) != one.sent_bytes(2)


TALK = {
    peer: [("says", peer, sent) for _ in range(20) for sent in (wire.STRT, wire.DRAW, wire.DRAW, wire.PASS)]
    for peer in (1, 2)
}


def test_each_game_is_dealt_from_a_new_deck() -> None:
    """sevenhalf-3.3: the orders of different games are independent, and the decks of a file are used in turn."""
    table = Table("1o 1c / 2o 2c")
    played = [table.send(STRT, DRAW, PASS)[14:16] for _ in range(4)]
    assert played == [b"1o", b"2o", b"1o", b"2o"]
    table = Table(seed="3")
    firsts = [table.send(STRT, DRAW, PASS)[14:16] for _ in range(400)]
    assert {first.decode() for first in firsts} == set(naive_rules.DECK)


def test_unlisted_cards_follow_the_listed_deck() -> None:
    table = Table("7o")
    sent = table.send(STRT, DRAW, PASS)
    assert sent.startswith(BET + SEVEN)
    drawn = sent[25 : 25 + 2 * sent[24]]
    assert b"7o" not in {drawn[at : at + 2] for at in range(0, len(drawn), 2)}


def test_closing_lenient_house_starts_no_replacement_game() -> None:
    table = Table(dialect="lenient")
    table.send(b"STRT")
    assert table.close() == b""
    assert table.send(b"STRT") == erro("the room closes")
    assert table.dropped
    assert table.settled == [-100]
