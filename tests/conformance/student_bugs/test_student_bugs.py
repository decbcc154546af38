"""Bugs of students in independent programs: the tester finds most of them, most on the right clause first."""

import gc
import threading
from unittest.mock import patch

import pytest

from croupier.conformance.servers.bench import MAX_SLOW_CASES, HouseBench
from tests.conformance.mutants.measure import Level
from tests.conformance.simulation import programs
from tests.conformance.student_bugs import PROGRAMS, Change, bugs, faulty_sources
from tests.conformance.student_bugs.measure import attempt
from tests.processes import PATIENCE
from tests.sampling import one_for_each

SHARDS = 4
"""`make fuzz` examines every bug, in this many tests for each program."""

FAILURES = ("--max-failures", 4)
"""A run ends after this many failed cases, to save time."""

MAX_PIPELINED_TRIALS = 30
"""In every second of these the house bets, and what the client has sent ahead is refused."""

MAX_TRIALS = 6
"""Luck decides whether the one case that is tried meets a bug, such as one that needs a side pot."""

LEVELS = {
    "kuhn_server": Level(0.94, 0.88),
    "kuhn_client": Level(0.9, 0.85),
    "sevenhalf_server": Level(0.98, 0.85),
    "sevenhalf_client": Level(0.98, 0.9),
    "blackjack_server": Level(0.9, 0.8),
    "blackjack_client": Level(0.9, 0.8),
    "holdem_server": Level(0.9, 0.85),
    "holdem_client": Level(0.85, 0.85),
    "oldmaid_table": Level(0.85, 0.8),
    "oldmaid_player": Level(0.9, 0.75),
}
"""What the tester reaches in every shard. The aim is 0.98 for both."""

QUICK = (
    ("kuhn_server", "unknown-seat-is-second", "kuhn/2.6"),
    ("kuhn_server", "ante-not-taken", "kuhn/7.4/every-payment"),
    ("sevenhalf_server", "ante-acknowledged", "sevenhalf/4.4"),
    ("sevenhalf_server", "erro-answered", "sevenhalf/6.6/erro-from-the-client-at-start"),
    ("blackjack_server", "surrender-rounds-up", "blackjack/5.3"),
    ("sevenhalf_server", "ante-kept-in-starting-bet", "sevenhalf/7.1/no-ante-of-the-last-game"),
    ("sevenhalf_server", "closes-after-gain", "sevenhalf/4.10"),
    ("blackjack_server", "bet-zero-accepted", "blackjack/6.5"),
    ("blackjack_server", "bet-little-endian", "blackjack/4.1"),
    ("blackjack_server", "bet-not-checked", "blackjack/2.3"),
    ("blackjack_server", "header-any-case", "blackjack/2.5"),
    ("blackjack_server", "jack-eleven", "blackjack/3.8"),
    ("blackjack_server", "house-fields-not-read", "blackjack/2.2/every-frame"),
    ("blackjack_server", "empty-purse-disconnects", "blackjack/7.5/ruin"),
    ("sevenhalf_server", "house-words-argument-not-read", "sevenhalf/2.4/bank-words-of-any-length"),
    ("holdem_server", "user-200", "holdem/2.2"),
    ("holdem_server", "join-200", "holdem/3.5"),
    ("holdem_server", "burnt-card", "holdem/6.14/a-flush-beats-a-straight"),
    ("oldmaid_table", "nick-twice", "oldmaid/3.8"),
    ("oldmaid_table", "pair-any-suit", "oldmaid/5.3"),
    ("kuhn_client", "bets-against-bet", "kuhn/4.6"),
    ("kuhn_client", "shown-king-crashes", "kuhn/3.1/house-shows-king"),
    ("blackjack_client", "figure-is-eleven", "blackjack/3.2/jack-counts-ten"),
    ("sevenhalf_client", "ante-zero", "sevenhalf/7"),
    ("holdem_client", "key-amount", "holdem/4.1"),
    ("holdem_client", "ten-players-crash", "holdem/6.12/beside-side-pots"),
    ("oldmaid_table", "piece-ends-connection", "oldmaid/1.4/tail"),
    ("oldmaid_table", "piece-ends-connection", "oldmaid/1.4/slow"),
    ("oldmaid_table", "early-status-unanswered", "oldmaid/1.4/slow"),
    ("oldmaid_table", "window-for-one", "oldmaid/3.11/window"),
    ("oldmaid_player", "impatient", "oldmaid/7.9/left-takes-its-time"),
    ("oldmaid_player", "out-at-each-offer", "oldmaid/7.12/gives-his-last-card"),
    ("oldmaid_player", "draws-two-cards", "oldmaid/4.9/last-card"),
    ("oldmaid_player", "pick-as-string", "oldmaid/7.4"),
    ("oldmaid_player", "appends-card", "oldmaid/7.8/random-place"),
    ("oldmaid_player", "one-right-neighbour", "oldmaid/7.13/offered-by-two"),
    ("oldmaid_player", "connects-once", "oldmaid/9.5/left-listens-late"),
    ("oldmaid_player", "unreachable-ends", "oldmaid/9.5/left-unreachable"),
    ("oldmaid_player", "unreachable-tried-for-ever", "oldmaid/9.5/left-unreachable"),
    ("oldmaid_player", "empty-offer-refused", "oldmaid/7.10/offered-nothing"),
    ("oldmaid_table", "utf-8-per-read", "oldmaid/1.4/cut-letters"),
    ("oldmaid_table", "refused-join-waits", "oldmaid/3.18"),
    ("oldmaid_table", "joins-refused-while-playing", "oldmaid/3.8/nick-elsewhere"),
    ("oldmaid_table", "half-refused-discard", "oldmaid/5.7/of-others"),
    ("oldmaid_table", "braces-in-strings", "oldmaid/3.7/brackets"),
    ("oldmaid_table", "address-taken-after-game", "oldmaid/3.9/free-again"),
    ("oldmaid_table", "requests-lost-while-waiting", "oldmaid/3.9/joins-twice"),
    ("oldmaid_table", "joins-the-running-game", "oldmaid/3.13/joins-late"),
    ("oldmaid_table", "cards-are-sent-later", "oldmaid/1.4/tail"),
    ("oldmaid_table", "port-as-it-came", "oldmaid/2.10/strings-for-numbers"),
    ("oldmaid_table", "leavers-counted-twice", "oldmaid/9.4/out-and-gone"),
    ("oldmaid_table", "one-game-only", "oldmaid/4"),
    ("oldmaid_player", "refused-pick-ends-offer", "oldmaid/8.7/pick-mistyped"),
    ("oldmaid_player", "answers-newest-connection", "oldmaid/7.7/pick-unoffered"),
    ("oldmaid_player", "offers-when-out", "oldmaid/7.12/gives-his-last-card"),
    ("oldmaid_table", "last-cards-means-out", "oldmaid/5.10/not-out-yet"),
    ("oldmaid_table", "last-cards-listed-out", "oldmaid/5.10/not-out-yet"),
    ("holdem_client", "ascii-only", "holdem/1.5/letters-of-the-world"),
    ("holdem_client", "expiry-without-decimals", "holdem/4.1/against-one-who-calls"),
    ("holdem_server", "other-bodies-not-read", "holdem/1.8/after-a-body"),
    ("holdem_server", "register-race", "holdem/2.6/at-once"),
    ("holdem_server", "leaver-moves-turn", "holdem/3.5/the-lowest-free-seat"),
    ("holdem_server", "seat-inherits-chips", "holdem/3.6/a-full-table"),
    ("holdem_server", "player-of-any-game", "holdem/3.8/two-games-at-once"),
    ("holdem_server", "rejoin-keeps-stack", "holdem/3.14/with-new-chips"),
    ("holdem_server", "timer-of-an-earlier-turn", "holdem/4.15/after-a-turn-in-time"),
    ("holdem_server", "timer-of-a-leaver", "holdem/4.15/after-a-departure-in-turn"),
    ("holdem_server", "password-with-colon-refused", "holdem/2.1/the-whole-password"),
    ("holdem_server", "acts-with-any-password", "holdem/2.7/a-wrong-password"),
    ("holdem_server", "side-pot-of-leavers-lost", "holdem/5.17/when-the-highest-bets-leave"),
    ("holdem_server", "queue-cannot-be-left", "holdem/3.12/out-of-the-queue"),
    ("holdem_server", "expired-turn-checks", "holdem/4.16/where-a-check-is-possible"),
    ("holdem_server", "fold-is-check", "holdem/4.6/folding-for-nothing"),
    ("holdem_server", "button-counts-hands", "holdem/6.2/when-players-leave"),
    ("holdem_server", "short-big-blind-is-level", "holdem/6.10/a-short-blind"),
    ("holdem_server", "side-pots-not-paid", "holdem/6.12/a-short-stack-wins"),
    ("holdem_server", "all-ins-are-not-run-out", "holdem/6.14/an-all-in-is-run-out"),
    ("holdem_server", "two-threes-are-no-full-house", "holdem/6.14/two-sets-of-three"),
    ("holdem_server", "content-type-required", "holdem/1.7/content-type-is-not-looked-at"),
    ("holdem_server", "queue-joined-twice", "holdem/3.7/in-the-queue"),
    ("holdem_server", "list-kept-for-a-second", "holdem/5.1/as-it-is-now"),
    ("kuhn_server", "refused-start-takes-ante", "kuhn/7.4/every-payment"),
    ("kuhn_server", "fail-without-its-argument", "kuhn/2.8"),
    ("sevenhalf_server", "second-pass-after-ante-accepted", "sevenhalf/6.9/refused-twice-at-raised"),
    ("sevenhalf_server", "every-late-pass-swallowed", "sevenhalf/6.1/two-passes-after-a-bust"),
    ("sevenhalf_server", "late-pass-owed-for-ever", "sevenhalf/6.1/pass-after-the-game-after-a-bust"),
    ("sevenhalf_server", "empty-erro-is-the-end", "sevenhalf/6.6"),
    ("sevenhalf_server", "erro-length-in-characters", "sevenhalf/2.2/every-message"),
    ("sevenhalf_server", "refused-ante-ends-must-draw", "sevenhalf/7.4/refused-second-ante"),
    ("sevenhalf_server", "no-draw-at-seven-and-a-half", "sevenhalf/4.4/ante-at-best"),
    ("blackjack_server", "only-the-low-byte-of-a-move", "blackjack/2.4/wide-move-at-turn"),
    ("blackjack_server", "stop-overtakes", "blackjack/8.1/goodbye-sent-ahead"),
    ("blackjack_server", "ace-valued-when-it-comes", "blackjack/3.2"),
    ("kuhn_client", "sends-again-when-the-house-is-slow", "kuhn/1.3/late-answers"),
    ("kuhn_client", "second-seat-is-one-read", "kuhn/1.3/apart-p2-is-checked-to"),
    ("kuhn_client", "disc-with-an-argument", "kuhn/7.2/no-coin-for-the-ante"),
    ("sevenhalf_client", "empty-erro-is-the-end", "sevenhalf/2.6/refusal-no-text"),
    ("blackjack_client", "bank-counted-with-hard-aces", "blackjack/3.8/bank-stands-on-soft-17"),
)
"""These bugs are looked for with the cases of one clause or section: in `make test` the first of each program."""


@pytest.mark.extended
def test_every_bug_is_a_change_of_a_program_and_names_its_clauses() -> None:
    assert {*LEVELS} == {*PROGRAMS}
    for program in PROGRAMS:
        for bug in bugs(program):
            sources = faulty_sources(bug)
            for file in {change.file for change in bug.changes}:
                compile(sources[file], file, "exec")
            assert bug.mistake
            assert all(clause.startswith(f"{bug.room}-") for clause in bug.clauses)


@pytest.mark.parametrize(("program", "name", "selection"), one_for_each(QUICK, lambda quick: quick[:1], 1))
def test_some_bugs_are_found(program: str, name: str, selection: str) -> None:
    (bug,) = (bug for bug in bugs(program) if bug.name == name)
    trials = [attempt(bug, "--max-failures", 1, selection=selection)]
    while not trials[-1].is_found and len(trials) < MAX_TRIALS:
        trials.append(attempt(bug, "--max-failures", 1, selection=selection))
    assert (trials[-1].is_right, trials[-1].tester_error) == (True, ""), trials


def test_a_late_answer_to_a_message_that_requires_none_is_not_blamed_on_the_next_message() -> None:
    (bug,) = (bug for bug in bugs("sevenhalf_server") if bug.name == "ante-acknowledged")
    (change,) = bug.changes
    awaited = '"ante")\n'
    late = change._replace(new=change.new.replace(awaited, f"{awaited}        await asyncio.sleep(0.01)\n"))
    trial = attempt(bug._replace(changes=[late]), "--max-failures", 1, selection="sevenhalf/4.4")
    assert trial.is_right, trial


def test_a_late_end_of_a_game_at_the_goal_is_no_message_that_is_left_out() -> None:
    (bug,) = (bug for bug in bugs("sevenhalf_server") if bug.name == "bust-at-goal")
    late = Change(
        "sevenhalf_server.py",
        "> GOAL:\n            self.may_pass_late = True\n            return await self.end_game([card, ",
        ">= GOAL:\n            self.may_pass_late = True\n            await self.send(card)\n"
        "            await asyncio.sleep(0.01)\n            return await self.end_game([",
    )
    trials = (
        attempt(bug._replace(changes=[late]), selection="sevenhalf/4.7/draw-at-seven-and-a-half")
        for _ in range(MAX_TRIALS)
    )
    trial = next(trial for trial in trials if trial.is_found)
    assert (trial.clause, trial.text) == ("sevenhalf-4.7", "")


def test_cases_are_played_slowly_until_some_fail_on_the_same_clause() -> None:
    (bug,) = (bug for bug in bugs("sevenhalf_server") if bug.name == "bank-stops-at-tie")
    with patch.object(HouseBench, "_try", autospec=True, side_effect=HouseBench._try) as tried:
        assert attempt(bug, selection="sevenhalf/6").is_found
    slow = {call.args[1].id for call in tried.call_args_list if call.kwargs.get("grace")}
    assert 0 < len(slow) <= MAX_SLOW_CASES


@pytest.mark.parametrize("selection", ["kuhn/4.7/fld-at-bet", "kuhn/4.7/fld-at-check-bet"])
def test_a_late_message_behind_a_fold_is_not_blamed_on_the_next_game(selection: str) -> None:
    (bug,) = (bug for bug in bugs("kuhn_server") if bug.name == "fold-answered-with-card")
    (change,) = bug.changes
    shown = '                self.send(f"CARD C_{own}")\n'
    late = change._replace(new=change.new.replace(shown, f"                __import__('time').sleep(0.01)\n{shown}"))
    trial = attempt(bug._replace(changes=[late]), "--max-failures", 1, selection=selection)
    assert trial.is_right, trial


def test_turns_that_all_end_early_are_not_blamed_on_the_timer_of_an_earlier_turn() -> None:
    (bug,) = (bug for bug in bugs("holdem_server") if bug.name == "turn-five-seconds")
    (change,) = bug.changes
    longer = change._replace(new=change.new.replace("3e6", "1.9e6"))
    trial = attempt(bug._replace(changes=[longer]), selection="holdem/4.15/after-a-turn-in-time")
    assert (trial.text, trial.tester_error) == ("", "")


@pytest.mark.extended
def test_a_goodbye_to_messages_that_came_together_is_found_as_if_they_had_come_alone() -> None:
    (bug,) = (bug for bug in bugs("kuhn_server") if bug.name == "wrong-action-disconnects")
    trials = (attempt(bug, selection="kuhn/1.3/pipelined") for _ in range(MAX_PIPELINED_TRIALS))
    found = next(trial for trial in trials if trial.is_found)
    assert found.is_right, found


def test_a_program_in_an_endless_loop_is_no_finding() -> None:
    bug = bugs("kuhn_server")[0]
    before = {*threading.enumerate()}
    change = Change("kuhn_server.py", "def main() -> None:\n", "def main() -> None:\n    while True:\n        pass\n")
    gc.collect()
    gc.disable()  # what a signal handler raises while a callback of the collector runs is lost
    try:
        with patch.object(programs, "MAX_PROCESSOR_SECONDS", 0.2):
            trial = attempt(bug._replace(changes=[change]))
    finally:
        gc.enable()
    assert (trial.is_found, trial.is_right, trial.tester_error) == (False, False, programs.TOOK_TOO_LONG)
    for thread in {*threading.enumerate()} - before:
        thread.join(PATIENCE)
        assert not thread.is_alive(), "the program goes on in its loop"


@pytest.mark.slow
@pytest.mark.parametrize("shard", range(SHARDS))
@pytest.mark.parametrize("program", PROGRAMS)
def test_bugs_are_found_on_the_right_clause(program: str, shard: int) -> None:
    LEVELS[program].check([attempt(bug, *FAILURES) for bug in bugs(program)[shard::SHARDS]])
