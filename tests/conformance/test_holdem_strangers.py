"""Hold'em with an independent server and bot: the tester accuses neither, and they play with our programs."""

import importlib
import json
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from random import Random
from types import ModuleType
from typing import Any

import pytest
import trustme
from pokerkit import StandardHighHand

from tests.conformance.stranger_checks import (
    FOLDER,
    FalseAlarm,
    assert_alarm,
    case_ids,
    check,
    command,
    draw_options,
    failed,
    hosted,
    readings,
    run_programs,
    skipped,
)
from tests.processes import COMMAND, Serving

SERVER = "holdem_server.py"
BOT = "holdem_client.py"

TURN = "--turn-seconds 4"
"""One case waits for a turn to end, so turns are shorter than the document's 15 seconds."""

SERVER_CHOICES = (
    ("", "--button random"),
    ("", "--big-blind-twice allowed"),
    ("", "--player-guid seat"),
    ("", "--guid upper"),
    ("", "--created unnamed", "--created never"),
    ("", "--empty-games removed"),
    ("", "--short-raises single"),
    ("", "--dead-chips joined"),
    ("", "--idle-pots none"),
    ("", "--idle-turn null"),
    ("", "--idle-state called"),
    ("", "--expiry nanoseconds", "--expiry offset"),
    ("", "--list-login ignored"),
    ("", "--redirect 301", "--redirect 308"),
    ("", "--pause 0.5"),
    ("", "--json compact", "--json pretty"),
    ("", "--errors json", "--errors empty"),
    ("", "--request-chunks refused"),
    ("", "--connection close"),
    ("", "--framing chunked"),
    ("", "--small-blind 5 --big-blind 10"),
    ("", "--stack 500"),
    ("", "--seats 6"),
)
BOT_CHOICES = (
    ("", "--style caller", "--style shover", "--style raiser"),
    ("", "--register late"),
    ("", "--game last", "--game own"),
    ("", "--queue leave"),
    ("", "--look list"),
    ("", "--sign needed"),
    ("", "--connection each"),
    ("", "--slashes never", "--slashes always"),
    ("", "--content-type text/plain"),
    ("", "--fold amount"),
    ("", "--body pretty", "--body reversed"),
    ("", "--poll 0.2"),
    ("", "--goodbye"),
)
"""The readings of what the document leaves open, and the permitted settings; the default comes first."""

SERVER_ALARMS = {
    "--button random": FalseAlarm(
        "the document does not say where the button begins: P19 is a ruling of the project",
        frozenset(),
        case_ids("holdem", "3.8/two-games-at-once 4.9/a-bet-beyond-the-wealth"),
    ),
    "--big-blind-twice allowed": FalseAlarm(
        "H7 has the button move; that the big blind is not posted twice in a row is a ruling of the project",
        case_ids("holdem", "3.11/all-in-and-gone 6.2/no-big-blind-twice"),
    ),
    "--player-guid seat": FalseAlarm(
        "the document does not say that a user has the same GUID in all games: P3 is a ruling of the project",
        case_ids(
            "holdem",
            """
            2.2/a-new-user 3.5/joining-a-free-seat 3.5/joining-in-mid-hand 3.5/the-lowest-free-seat
            3.8/two-games-at-once 3.10/leaving-in-turn 3.10/leaving-one-alone 3.10/leaving-out-of-turn
            3.11/all-in-and-gone 3.12/leaving-before-the-first-hand 3.14/who-has-left-is-nobody
            4.3/a-key-given-twice 4.3/keys-that-are-not-known 4.4/a-fold-needs-no-amount 4.4/actions-that-are-none
            4.4/acts-that-are-no-json 4.4/acts-that-are-no-objects 4.4/amounts-that-are-none 4.5/played
            4.6/folding-for-nothing 4.7/an-invalid-bet-does-not-end-the-game 4.8/a-bet-below-nothing
            4.9/a-bet-beyond-the-wealth 4.9/a-bet-of-many-digits 4.10/a-bet-below-the-call
            4.10/a-check-against-a-bet 4.11/a-first-bet-below-the-big-blind 4.11/a-raise-below-the-smallest
            4.13/no-turn-after-a-fold 4.13/no-turn-alone 4.13/out-of-turn 4.14/one-act-a-turn
            4.14/the-turn-that-comes-back 5.1/an-array-and-an-object 5.4/cards-as-strings
            5.6/a-folded-hand-is-still-seen 5.6/who-has-left-sees-nothing 5.7/the-small-blind-has-left
            5.9/states-of-players 5.9/the-big-blind-has-an-option 5.10/what-a-turn-tells
            5.11/turns-of-the-same-moment 5.13/one-pot 5.14/paid-and-folded 5.14/paid-and-gone
            6.1/a-fresh-deck-for-every-hand 6.2/no-big-blind-twice 6.2/the-button-moves 6.4/the-blinds-of-two
            6.4/the-order-of-two 6.5/the-order-of-the-deal 6.6/the-order-of-three 6.8/a-raise-of-everything
            6.8/the-smallest-raise 6.8/the-smallest-raise-of-a-new-round 6.11/an-uncalled-raise-is-given-back
            6.13/everybody-folds-to-the-big-blind 8.7/too-large 8.8/acting-for-somebody-else
            8.8/removing-somebody-else 9.7/a-hand-history 9.7/a-hand-history-shows-no-more-than-the-table
            9.7/hand-histories-that-there-are-not
            """,
        ),
        case_ids("holdem", "3.5/played 3.11/played 6.5/played 6.6/played"),
    ),
    "--dead-chips joined": FalseAlarm(
        "a side pot that nobody can win any more is not needed",
        frozenset(),
        case_ids("holdem", "5.15/played 6.12/played"),
    ),
    "--idle-pots none": FalseAlarm(
        "each round has a pot, and between hands there is no round: P18 is a ruling of the project",
        case_ids("holdem", "5.15/played"),
    ),
    "--idle-state called": FalseAlarm(
        "active means that a player needs to bet, and between hands nobody does: P14 is a ruling of the project",
        case_ids("holdem", "3.5/joining-a-free-seat 3.10/leaving-one-alone"),
    ),
    "--list-login ignored": FalseAlarm(
        "the document has no error for the list of games: P5 is a ruling of the project",
        case_ids("holdem", "2.7/a-wrong-password"),
    ),
    "--pause 0.5": FalseAlarm(
        "a server may pause between hands (5.18)",
        case_ids(
            "holdem",
            """
            3.5/joining-in-mid-hand 3.5/the-lowest-free-seat 3.6/a-full-table 3.10/leaving-in-turn
            3.10/leaving-one-alone 3.10/leaving-out-of-turn 3.11/all-in-and-gone 3.12/leaving-before-the-first-hand
            4.4/a-fold-needs-no-amount 4.6/folding-for-nothing 4.7/an-invalid-bet-does-not-end-the-game
            4.8/a-bet-below-nothing 4.9/a-bet-beyond-the-wealth 4.9/a-bet-of-many-digits 4.10/a-bet-below-the-call
            4.10/a-check-against-a-bet 4.11/a-first-bet-below-the-big-blind 4.11/a-raise-below-the-smallest
            4.13/no-turn-after-a-fold 4.14/one-act-a-turn 5.6/a-folded-hand-is-still-seen
            5.7/the-small-blind-has-left 5.9/states-of-players 5.9/the-big-blind-has-an-option 5.13/one-pot
            5.14/paid-and-folded 5.14/paid-and-gone 6.1/a-fresh-deck-for-every-hand
            6.2/no-big-blind-twice 6.2/the-button-moves 6.4/the-blinds-of-two 6.5/the-order-of-the-deal
            6.6/the-order-of-three 6.8/the-smallest-raise 6.11/an-uncalled-raise-is-given-back
            6.13/everybody-folds-to-the-big-blind
            """,
        ),
        case_ids("holdem", "6.1/a-fresh-deck 6.9/a-short-all-in 6.10/a-short-blind"),
    ),
    "--request-chunks refused": FalseAlarm(
        "HTTP allows a server to refuse a request without Content-Length with 411 (RFC 9112, section 6.3)",
        case_ids("holdem", "1.8/chunked"),
    ),
    "--connection close": FalseAlarm(
        "HTTP allows a server to close after an answer with Connection: close (RFC 9112, sections 9.3.2 and 9.6)",
        case_ids("holdem", "1.8/pipelined"),
    ),
    "--small-blind 5 --big-blind 10": FalseAlarm(
        "the blinds are settings of a server (6.3)", case_ids("holdem", "6.3/the-blinds")
    ),
    "--stack 500": FalseAlarm(
        "the chips of a player are a setting of a server (3.1)", case_ids("holdem", "3.1/what-everybody-brings")
    ),
    "--seats 6": FalseAlarm(
        "the seats are a setting of a server: H7 has 2 to 10", case_ids("holdem", "3.6/a-full-table")
    ),
}
BOT_ALARMS = {
    "--register late": FalseAlarm(
        "a bot that may have been registered before tries to join first: nothing forbids a 401",
        case_ids("holdem", "4.1/against-five 4.1/against-one-who-calls 4.1/against-two"),
        selection="holdem/4.1",
    ),
}

MOST_SKIPPED = 42
"""No more than a fifth of the cases are skipped: those of the other dialect, and a few that depend on the cards."""


def check_server(options: str, selection: str = "holdem", seed: int = 1) -> dict[str, str]:
    return check(selection, "--server", command(SERVER, "{port}", TURN, options), "--seed", seed)


def check_bot(options: str, selection: str = "holdem", seed: int = 1) -> dict[str, str]:
    program = command(BOT, "--url {url} --user {user} --password {password}", options)
    return check(selection, "--client", program, "--seed", seed)


def test_an_independent_server_is_not_accused() -> None:
    outcomes = check_server("", "holdem/6")
    assert failed(outcomes) == set()
    assert list(outcomes.values()).count("PASS") >= 20


def test_an_independent_bot_is_not_accused() -> None:
    assert set(check_bot("", "holdem/4.5").values()) == {"PASS"}


@pytest.mark.extended
@pytest.mark.parametrize("options", ["", *readings(SERVER_CHOICES, SERVER_ALARMS)])
def test_no_reading_of_a_server_is_accused(options: str) -> None:
    outcomes = check_server(options)
    assert failed(outcomes) == set()
    assert len(skipped(outcomes)) <= MOST_SKIPPED


@pytest.mark.extended
@pytest.mark.xfail(reason="the tester skips nearly all cases where it could use the game that is listed")
def test_a_game_that_is_only_listed_is_used() -> None:
    assert len(skipped(check_server("--created unnamed --empty-games removed"))) <= MOST_SKIPPED


BOT_READINGS = (
    "",
    "--style shover --connection each --slashes never --content-type text/plain --fold amount --body pretty",
    "--style caller --slashes always --look list --sign needed --body reversed --game last",
    "--style raiser --game own --poll 0.2 --queue leave --goodbye",
)
"""Combinations of all readings that bring no false alarm: a run takes as long as the games it plays."""


@pytest.mark.extended
@pytest.mark.parametrize("options", BOT_READINGS)
def test_no_reading_of_a_bot_is_accused(options: str) -> None:
    outcomes = check_bot(options)
    assert failed(outcomes) == set()
    assert len(skipped(outcomes)) <= 2


@pytest.mark.extended
@pytest.mark.parametrize("options", SERVER_ALARMS)
def test_the_false_alarms_at_servers_are_known(options: str) -> None:
    alarm = SERVER_ALARMS[options]
    assert_alarm(check_server(options, alarm.selection or "holdem"), alarm)


@pytest.mark.extended
@pytest.mark.parametrize("options", BOT_ALARMS)
def test_the_false_alarms_at_bots_are_known(options: str) -> None:
    alarm = BOT_ALARMS[options]
    assert_alarm(check_bot(options, alarm.selection or "holdem"), alarm)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1, 1001))
def test_no_server_is_accused_with_any_seed(seed: int) -> None:
    assert failed(check_server(draw_options(SERVER_CHOICES, SERVER_ALARMS, seed), seed=seed)) == set()


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1, 1001))
def test_no_bot_is_accused_with_any_seed(seed: int) -> None:
    assert failed(check_bot(draw_options(BOT_CHOICES, BOT_ALARMS, seed), seed=seed)) == set()


def bot_command(url: str, number: int, options: str) -> list[str]:
    """Return the command of an independent bot."""
    user = ["--user", f"stranger{number}", "--password", "secret"]
    return [sys.executable, "-S", str(FOLDER / BOT), "--url", url, *user, *shlex.split(options)]


def play(url: str, strangers: Sequence[str], *options: str) -> dict[str, Any]:
    """Let our bot play some hands with strangers with these options; return its summary."""
    ours = [*COMMAND, "play", "holdem", url, "--user", "ours", "--password", "secret", "--bot", "caller", *options]
    companions = [bot_command(url, number, words) for number, words in enumerate(strangers)]
    (output,) = run_programs([[*ours, "--hands", "5", "--json"]], companions)
    summary: dict[str, Any] = json.loads(output)
    return summary


STRANGERS = ("--style caller", "--style caller --connection each --look list --slashes never --register late")


@pytest.mark.extended
@pytest.mark.parametrize("options", ["--button random", "--pause 0.05 --json pretty --framing chunked", "--guid upper"])
def test_our_bots_and_strangers_play_at_an_independent_server(options: str) -> None:
    with hosted(SERVER, f"{TURN} {options}") as server:
        summary = play(f"http://{server.address}", STRANGERS)
    assert (summary["hands"], summary["fault"]) == (5, None)


@pytest.mark.extended
def test_our_bots_and_strangers_play_at_our_server() -> None:
    with Serving("holdem", "--port", 0, "--turn-seconds", 4) as server:
        summary = play(f"http://{server.address}", STRANGERS)
    assert (summary["hands"], summary["fault"]) == (5, None)


@pytest.mark.extended
def test_independent_programs_play_over_tls(tmp_path: Path) -> None:
    authority = trustme.CA()
    authority.cert_pem.write_to_path(tmp_path / "ca.pem")
    certificate = authority.issue_cert("127.0.0.1")
    certificate.private_key_and_cert_chain_pem.write_to_path(tmp_path / "server.pem")
    trust, files = str(tmp_path / "ca.pem"), str(tmp_path / "server.pem")
    with hosted(SERVER, f"{TURN} --tls-cert {files} --tls-key {files}") as server:
        summary = play(f"https://{server.address}", [f"--style caller --ca {trust}"], "--tls-ca", trust)
    assert (summary["hands"], summary["fault"]) == (5, None)


def test_the_tap_finds_no_fault_between_independent_programs() -> None:
    with (
        hosted(SERVER, TURN) as server,
        Serving(server.address, command=[*COMMAND, "tap", "holdem", "0"]) as tap,
    ):
        options = "--acts 20 --patience 3 --goodbye --poll 0.02"
        run_programs([bot_command(f"http://{tap.address}", number, options) for number in range(2)])
        assert tap.stop() == 0
        assert tap.read_output().rstrip().endswith("nothing is broken")


@pytest.fixture
def table(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The module of the server that ranks hands and divides pots."""
    monkeypatch.syspath_prepend(str(FOLDER))
    return importlib.import_module("holdem_table")


def pokerkit_hand(cards: Sequence[str]) -> Any:
    return StandardHighHand.from_game("".join(rank + suit.lower() for rank, suit in cards))


def expected_wins(bets: dict[str, int], live: Sequence[str], hands: dict[str, Any]) -> dict[str, int]:
    """Divide the bets by layers between two different bets; layers with the same claimants are one pot."""
    pots: list[tuple[list[str], int]] = []
    below = 0
    for level in sorted({*bets.values()} - {0}):
        claimants = [one for one in live if bets[one] >= level] or pots[-1][0]
        size = sum(min(bet, level) - min(bet, below) for bet in bets.values())
        if pots and pots[-1][0] == claimants:
            pots[-1] = claimants, pots[-1][1] + size
        else:
            pots.append((claimants, size))
        below = level
    won = dict.fromkeys(live, 0)
    for claimants, size in pots:
        winners = [one for one in claimants if hands[one] == max(hands[other] for other in claimants)]
        for place, one in enumerate(winners):
            won[one] += size // len(winners) + (place < size % len(winners))
    return won


def test_the_server_ranks_and_pays_as_pokerkit_does(table: ModuleType) -> None:
    luck = Random(19)
    for _ in range(150):
        deck = luck.sample(table.DECK, len(table.DECK))
        names = [f"p{number}" for number in range(luck.randint(2, 9))]
        cards = {one: deck[5 + 2 * at : 7 + 2 * at] + deck[:5] for at, one in enumerate(names)}
        stacks = {one: luck.randint(1, 60) for one in names}
        bet = luck.randint(1, 60)
        live = sorted(luck.sample(names, luck.randint(1, len(names))))
        bets = {one: min(stacks[one], bet if one in live else luck.randint(0, bet)) for one in names}
        all_in = [one for one in live if bets[one] == stacks[one]]
        hands = {one: pokerkit_hand(cards[one]) for one in live}
        values = {one: table.best(cards[one]) for one in live}
        assert sorted(live, key=hands.__getitem__) == sorted(live, key=values.__getitem__)
        won = table.share(table.split_pots(bets, live, all_in, "joined"), values, live)
        assert won == expected_wins(bets, live, hands)
        assert sum(won.values()) == sum(bets.values())
