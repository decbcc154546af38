"""`croupier solve`: its tables, CSV and JSON match the results of the solvers."""

import csv
import io
import json
import re
import subprocess
import sys
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from croupier.cli import convergence_plot, solve
from croupier.rooms.blackjack.rules import BLACKJACK, HIT, RANK_VALUES, STAND, SURRENDER
from croupier.rooms.kuhn.bots import equilibrium_bot
from croupier.rooms.kuhn.rules import KUHN, View
from croupier.rooms.oldmaid.odds import solution
from croupier.rooms.oldmaid.odds.exact import loss_probabilities as loses
from croupier.rooms.sevenhalf.rules import SevenHalf
from croupier.strategy.game_tree import GameTree
from croupier.strategy.rules_solution import describe_equilibrium
from croupier.strategy.single_player import SinglePlayerSolver
from croupier.strategy.zero_sum import find_equilibrium
from tests.processes import COMMAND, PATIENCE, ROOT, croupier, environment
from tests.rooms.kuhn.action_odds import chances
from tests.sampling import extended

LEDUC = str(ROOT / "examples" / "leduc.py")


@cache
def solved(*arguments: object, columns: int = 200) -> str:
    """Return the output of `croupier solve` on a wide terminal."""
    done = croupier("solve", *arguments, variables={"COLUMNS": str(columns)}, timeout=3 * PATIENCE)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def rows(*arguments: object) -> list[dict[str, str]]:
    """Return the rows of the CSV, after checking its decimals against its fractions."""
    found = list(csv.DictReader(io.StringIO(solved(*arguments, "--csv"))))
    for row in found:
        for name in row:
            if f"{name}_decimal" in row and row[name]:
                assert row[f"{name}_decimal"] == str(float(Fraction(row[name])))
    return found


def objects(*arguments: object) -> dict[str, Any]:
    """Return the JSON, after checking its decimals against its fractions."""
    found: dict[str, Any] = json.loads(solved(*arguments, "--json"))
    for record in [found, *found["decisions"]]:
        for value in record.values():
            if isinstance(value, dict) and "exact" in value:
                assert value["decimal"] == float(Fraction(value["exact"]))
    return found


def cell_text(value: Fraction | None) -> str:
    return "" if value is None else str(value)


def test_kuhn_poker_prints_its_family_of_equilibria() -> None:
    printed = solved("kuhn")
    assert "Kuhn poker is worth -1/18 = -0.0555555556 coins a game to P_1." in printed
    assert "P_1 may choose any α from 0 to 1/3." in printed
    assert "P_2 has no choice: this is its only optimal strategy." in printed
    found = [[cell.strip() for cell in line.split("│")[1:-1]] for line in printed.splitlines() if "│" in line]
    assert found == [
        ["BET", "α", "0", "3α"],
        ["CAL after CHK BET", "0", "1/3 + α", "1"],
        ["BET after CHK", "1/3", "0", "1"],
        ["CAL after BET", "0", "1/3", "1"],
    ]


@pytest.mark.parametrize(("column", "alpha"), [("at_lowest_alpha", Fraction(0)), ("at_highest_alpha", Fraction(1, 3))])
@pytest.mark.extended
def test_the_rows_of_kuhn_poker_are_the_published_equilibria(column: str, alpha: Fraction) -> None:
    book = chances(equilibrium_bot(alpha))
    found = rows("kuhn")
    assert len(found) == 24
    for row in found:
        history: Any = tuple(row["after"].split())
        card: Any = row["card"]
        assert Fraction(row[column]) == book[View(card, history)][row["action"]]


@pytest.mark.extended
def test_kuhn_json_matches_csv() -> None:
    found = objects("kuhn")
    assert (found["game"], found["settings"], found["value"]["exact"]) == ("Kuhn poker", {}, "-1/18")
    for record, row in zip(found["decisions"], rows("kuhn"), strict=True):
        assert record["at_lowest_alpha"]["exact"] == row["at_lowest_alpha"]
        assert record["probability"] == row["probability"]


def test_a_rules_file_is_solved_with_proved_bounds(capsys: pytest.CaptureFixture[str]) -> None:
    assert solve.solve_file(LEDUC) == 0
    printed = capsys.readouterr().out
    assert (
        "leduc.py is worth -0.0856064241 coins a game to the first seat; proved: at least -0.08560642407800" in printed
    )
    found = [[cell.strip() for cell in line.split("│")[1:-1]] for line in printed.splitlines() if "│" in line]
    assert found == [["information sets", "144", "144"], ["their moves", "336", "336"]]
    assert "1,939 states. Method: linear program." in printed


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("RULES = 3", "cannot be solved: AttributeError: 'int' object has no attribute 'seats'"),
        ("class One:\n seats = 1\nRULES = One()", "cannot be solved: ValueError: found a game of 1; allowed: 2"),
        (
            "class Bad:\n seats = 2\n def start(self):\n  return 1 / 0\nRULES = Bad()",
            "cannot be solved: line 4: ZeroDivisionError: division by zero",
        ),
    ],
)
def test_rules_that_cannot_be_solved_are_an_error(body: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "rules.py"
    path.write_text(body)
    with pytest.raises(ValueError, match=re.escape(message)):
        solve.solve_file(str(path))


def test_json_of_a_rules_file_has_the_bounds_of_its_value(capsys: pytest.CaptureFixture[str]) -> None:
    assert solve.solve_file(f"{LEDUC}:RULES", output=solve.OutputOptions(json=True)) == 0
    found = json.loads(capsys.readouterr().out)
    value = found["value"]
    assert value["exact"] is None
    assert value["low"] <= value["decimal"] <= value["high"] <= value["low"] + 1e-9
    assert f"{value['decimal']:.13f}" == "-0.0856064240780"
    assert len(found["decisions"]) == 672
    assert sum(record["probability"] for record in found["decisions"]) == pytest.approx(288)


def test_a_rules_file_may_be_solved_with_cfr_plus(capsys: pytest.CaptureFixture[str]) -> None:
    method = solve.MethodOptions(method="cfr+", rounds=50)
    assert solve.solve_file(LEDUC, method=method, output=solve.OutputOptions(json=True)) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["settings"] == {"rounds": 50}
    assert found["value"]["low"] < -0.0856064240780 < found["value"]["high"] < found["value"]["low"] + 0.1


def test_kuhn_poker_with_cfr_plus_prints_bounds(capsys: pytest.CaptureFixture[str]) -> None:
    assert solve.solve_kuhn(method=solve.MethodOptions(method="cfr+", rounds=200)) == 0
    printed = capsys.readouterr().out
    assert "Kuhn poker is worth -0.05" in printed
    assert "58 states. Method: CFR+, 200 rounds." in printed


def test_an_exact_solution_of_a_rules_file_has_exact_probabilities() -> None:
    tree = GameTree(KUHN)
    found = describe_equilibrium("Kuhn poker", tree, find_equilibrium(tree))
    assert found.value == Fraction(-1, 18)
    assert all(isinstance(record["probability"], Fraction) for record in found.records)


@pytest.mark.extended
@pytest.mark.parametrize(("method", "axis"), [("lp", "interior-point"), ("cfr+", "rounds")])
def test_a_plot_shows_the_convergence_of_both_methods(
    method: Any, axis: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    import matplotlib as mpl  # takes long to import, so only where it is used

    path = tmp_path / "plot.svg"
    with mpl.rc_context({"svg.fonttype": "none"}):
        assert solve.solve_kuhn(method=solve.MethodOptions(method=method, rounds=200, plot=path)) == 0
    assert "Kuhn poker is worth" in capsys.readouterr().out
    drawn = path.read_text()
    assert axis in drawn
    assert "bounds by the linear program" in drawn
    assert all(colour.lower() in drawn.lower() for colour in (convergence_plot.BLUE, convergence_plot.VERMILION))


def test_seven_and_a_half_is_printed_by_total() -> None:
    printed = solved("sevenhalf")
    assert "is worth -939418612317611/14470439362879500 = -0.0649198403 starting bets a game" in printed
    found = [[cell.strip() for cell in line.split("│")[1:-1]][:2] for line in printed.splitlines() if "│" in line]
    draws = [["0.5", "DRAW"], *([f"{halves / 2:g}", "DRAW"] for halves in range(2, 10))]
    assert found == [*draws, *([f"{halves / 2:g}", "PASS"] for halves in range(10, 16))]
    assert "No exceptions" in printed


def test_a_limit_above_the_bet_prints_when_to_raise() -> None:
    printed = solved("sevenhalf", "--max-bet", 10)
    assert "= +0.0652075026 starting bets" in printed
    assert [line.split("│")[1].strip() for line in printed.splitlines() if "RAISE " in line] == ["0.5"]


@pytest.mark.parametrize("max_bet", [1, 3])
def test_sevenhalf_csv_matches_the_solver(max_bet: int) -> None:
    rules = SevenHalf(max_bet)
    solver = SinglePlayerSolver(rules)
    found = {(row["hand"], row["bet"], row["pass"] != ""): row for row in rows("sevenhalf", "--max-bet", max_bet)}
    decisions = solver.reachable_decisions(rules.start(1))
    assert len(found) == len(decisions)
    for state in decisions:
        values = {
            "raise" if isinstance(move, int) else move: coins for move, coins in solver.move_values(state).items()
        }
        hand = "".join(sorted(str(card)[0] if str(card)[0].isdigit() else "s" for card in state.cards))
        row = found[hand, str(state.bet), "PASS" in values]
        assert [row["draw"], row["pass"], row["raise"]] == [cell_text(values.get(n)) for n in ("DRAW", "PASS", "raise")]
        assert values[row["best"] if row["best"] != "RAISE" else "raise"] == max(values.values())


@pytest.mark.extended
def test_blackjack_is_printed_with_its_exceptions() -> None:
    printed = solved("blackjack")
    assert "Blackjack is worth 266283420280804127/6358710501602058600 = +0.0418769529 bets a round" in printed
    found = [[cell.strip() for cell in line.split("│")[1:-1]] for line in printed.splitlines() if "│" in line]
    table = {row[0]: row[1:] for row in found[:17]}
    assert [*table] == [str(total) for total in range(4, 21)]
    assert table["11"] == ["H"] * 10
    assert table["16"] == [*"SSSSS", "H*", "H*", "H*", "H*", "R"]
    assert table["18"] == ["S"] * 10
    assert [row[0] for row in found[17:]] == [str(total) for total in range(12, 22)]
    assert "Hard 12 against 5: S, but H with 2T, AAT (45.54%)" in printed
    assert "less than 0.01%" in printed
    stars = sum(cell.endswith("*") for row in found for cell in row)
    assert len({line.split(":")[0] for line in printed.splitlines() if ", but " in line}) == stars


@pytest.mark.extended
def test_blackjack_csv_matches_the_solver_and_adds_up_to_the_value() -> None:
    """Every round begins with one decision with two cards."""
    cards = rows("blackjack")
    solver = SinglePlayerSolver(BLACKJACK)
    found = {(row["hand"], row["up"]): row for row in cards}
    decisions = solver.reachable_decisions(BLACKJACK.start(2))
    assert len(found) == len(cards) == len(decisions)
    for state in decisions[::11]:
        ranks = ["T" if RANK_VALUES[str(card)[0]] == 10 else str(card)[0] for card in state.cards]
        row = found["".join(sorted(ranks[:2] + ranks[3:], key="A23456789T".index)), ranks[2]]
        values = solver.move_values(state)
        assert [row["hit"], row["stand"], row["surrender"]] == [str(values[n] / 2) for n in (HIT, STAND, SURRENDER)]
        assert Fraction(row[row["best"]]) == max(values.values()) / 2
    openings = [row for row in cards if len(row["hand"]) == 2]
    assert len(openings) == 550
    assert sum(Fraction(row["reached"]) for row in openings) == 1
    value = sum(Fraction(row["reached"]) * Fraction(row[row["best"]]) for row in openings)
    assert value == solver.value(BLACKJACK.start(2)) / 2


@pytest.mark.extended
def test_blackjack_json_matches_csv() -> None:
    found = objects("blackjack", "--decks", 1)
    assert found["settings"] == {"decks": 1}
    assert Fraction(found["value"]["exact"]) == Fraction(266283420280804127, 6358710501602058600)
    for record, row in zip(found["decisions"], rows("blackjack"), strict=True):
        assert (record["hand"], record["up"], str(record["total"])) == (row["hand"], row["up"], row["total"])
        assert [record[name]["exact"] for name in ("hit", "stand")] == [row["hit"], row["stand"]]


@pytest.mark.extended
def test_blackjack_with_two_decks() -> None:
    assert "= +0.0403156183 bets" in solved("blackjack", "--decks", 2)


@pytest.mark.parametrize("players", [2, 3])
def test_old_maid_is_printed_by_seat(players: int) -> None:
    printed = solved("oldmaid", "--players", players)
    assert "Old Maid: how often each seat loses." in printed
    found = [[cell.strip() for cell in line.split("│")[1:-1]] for line in printed.splitlines() if "│" in line]
    last = (53 - 1) % players
    assert [row[0] for row in found] == [f"player{n + 1}{'*' * (n == last)}" for n in range(players)]
    assert sum(int(row[1]) for row in found) == 53
    assert [float(row[2]) for row in found] == pytest.approx(loses(players), abs=5.1e-10)
    assert ("player1 loses 1723353095189/3455521292986 of the games" in printed) == (players == 2)


@pytest.mark.extended
def test_simulated_old_maid_prints_confidence_intervals() -> None:
    printed = solved("oldmaid", "--players", 5, "--games", 5_000, "--seed", 7)
    assert "From 5 players on: 5,000 games each with seed 7, and 95 % intervals." in printed
    found = rows("oldmaid", "--players", 5, "--games", 5_000, "--seed", 7)
    assert [row["seat"] for row in found] == [f"player{n}" for n in range(1, 6)]
    assert sum(float(row["loses"]) for row in found) == pytest.approx(1)
    for row in found:
        low, loses, high = (float(row[name]) for name in ("low", "loses", "high"))
        assert low < loses < high
        assert f"{loses:.4f} ({low:.4f} to {high:.4f})" in printed
        assert high - low == pytest.approx(2 * 1.96 * (loses * (1 - loses) / 5_000) ** 0.5, rel=0.01)
        assert (row["games"], row["fraction"]) == ("5000", "")
    assert found != rows("oldmaid", "--players", 5, "--games", 5_000, "--seed", 8)


def test_wilson_intervals_of_extreme_shares() -> None:
    """Values calculated by hand: for a share of 0 the interval ends at z²/(n + z²)."""
    none, half, every = (solution.wilson_interval(lost, 100) for lost in (0, 50, 100))
    assert [none.low, none.high] == pytest.approx([0, 0.0369935])
    assert [half.low, half.high] == pytest.approx([0.4038315, 0.5961685])
    assert [every.low, every.high] == pytest.approx([0.9630065, 1])


def test_exact_old_maid_rows() -> None:
    found = rows("oldmaid", "--players", 3)
    assert [row["offers_first"] for row in found] == ["False", "True", "False"]
    assert [int(row["cards"]) for row in found] == [18, 18, 17]
    for row in found:
        assert float(row["low"]) < float(row["loses"]) < float(row["high"]) < float(row["low"]) + 1e-11
        assert (row["games"], row["fraction"]) == ("0", "")
    two = rows("oldmaid", "--players", 2)
    assert sum(Fraction(row["fraction"]) for row in two) == 1
    assert [float(Fraction(row["fraction"])) for row in two] == [float(row["loses"]) for row in two]


def test_oldmaid_json_matches_csv() -> None:
    found = objects("oldmaid", "--players", 3)
    assert (found["game"], found["value"]) == ("Old Maid", None)
    assert found["settings"] == {"players": 3, "games": 1_000_000, "seed": 1}
    for record, row in zip(found["decisions"], rows("oldmaid", "--players", 3), strict=True):
        assert {name: str(value) for name, value in record.items()} == row


@pytest.mark.extended
def test_oldmaid_tables_fit_80_columns_without_truncation(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(solution, "MAX_SOLVED_PLAYERS", 3)
    monkeypatch.setenv("COLUMNS", "80")
    assert solve.solve_oldmaid(games=500) == 0
    printed = capsys.readouterr().out
    assert max(map(len, printed.splitlines())) <= 80
    assert "…" not in printed
    words = {cell.strip() for line in printed.splitlines() for cell in re.split("[│┃]", line)}
    cells = {cell for row in solution.solve(games=500).grids[0].rows for cell in row}
    assert words >= {f"player{n}" for n in range(1, 9)} | cells


@pytest.mark.parametrize("arguments", [("kuhn",), ("sevenhalf",), ("oldmaid", "--players", 5, "--games", 500)])
@pytest.mark.extended
def test_every_table_fits_80_columns(arguments: tuple[object, ...]) -> None:
    printed = solved(*arguments, columns=80)
    assert max(map(len, printed.splitlines()[1:])) <= 80
    assert "…" not in printed


def test_without_players_every_number_of_players_is_a_row(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(solution, "MAX_SOLVED_PLAYERS", 3)
    monkeypatch.setenv("COLUMNS", "200")
    assert solve.solve_oldmaid(games=2_000) == 0
    printed = capsys.readouterr().out
    found = [[cell.strip() for cell in line.split("│")[1:-1]] for line in printed.splitlines() if "│" in line]
    assert [row[0] for row in found] == [str(players) for players in range(2, 9)]
    for players, row in enumerate(found, start=2):
        shares = [cell for cell in row[1:] if cell]
        assert len(shares) == players
        assert [seat for seat, cell in enumerate(shares) if cell.endswith("*")] == [52 % players]
        assert sum(float(cell.rstrip("*")) for cell in shares) == pytest.approx(1, abs=0.0005)
    assert "From 4 players on: 2,000 games each with seed 1" in printed


@pytest.mark.slow
def test_documented_oldmaid_tables_are_up_to_date() -> None:
    page = (ROOT / "docs" / "solutions.md").read_text().partition("## Old Maid")[2].partition("###")[0]
    found = [[cell.strip() for cell in line.split("|")[1:-1]] for line in page.splitlines() if line.startswith("| ")]
    solved_game = solution.solve()
    assert [row for row in found if row[0].isdigit() and len(row) == 9] == [
        [cell.replace("*", "\\*") for cell in row] for row in solved_game.grids[0].rows
    ]
    exact = {int(row[0]): [cell for cell in row[1:] if cell] for row in found if row[0].isdigit() and len(row) == 5}
    assert [*exact] == [2, 3, 4]
    for players, cells in exact.items():
        records = [record for record in solved_game.records if record["players"] == players]
        for end in ("low", "loses", "high"):
            assert cells == [f"{record[end]:.9f}" for record in records], "all printed decimals are exact"


@pytest.mark.parametrize(
    ("arguments", "message"),
    extended(
        [
            (["blackjack", "--decks", "0"], "croupier: found 0 decks; allowed: 1 or more"),
            (["sevenhalf", "--max-bet", "0"], "croupier: found a highest bet of 0; allowed: 1 to 1073741823"),
            (["sevenhalf", "--max-bet", "1073741824"], "allowed: 1 to 1073741823"),
            (["kuhn", "--csv", "--json"], "croupier: found --csv and --json; allowed: one of them"),
            (["blackjack", "--decks", "many"], "--decks"),
            (["oldmaid", "--players", "9"], "croupier: found 9 players; allowed: 2 to 8"),
            (["oldmaid", "--players", "1"], "croupier: found 1 players; allowed: 2 to 8"),
            (["oldmaid", "--players", "5", "--games", "0"], "croupier: found 0 games; allowed: 1 or more"),
            (["oldmaid", "--players", "5", "--seed", "-1"], "croupier: found the seed -1; allowed: 0 or more"),
            (["holdem"], "found the game 'holdem'; allowed: kuhn, sevenhalf, blackjack, oldmaid, FILE.py"),
            (["kuhn", "--method", "cfr+", "--rounds", "0"], "croupier: found 0 rounds; allowed: 1 or more"),
            (["kuhn", "--plot", "plot.txt"], "found the plot 'plot.txt'; allowed: a file that ends with .avif"),
            (["missing.py"], "croupier: found no file 'missing.py'; allowed: a Python file"),
            ([LEDUC, "--csv", "--json"], "croupier: found --csv and --json; allowed: one of them"),
            ([f"{LEDUC}:MINE"], "croupier: found no MINE in"),
            ([f"{LEDUC}:RULES:1"], ":RULES:1'; allowed: kuhn, sevenhalf, blackjack, oldmaid, FILE.py"),
        ],
        4,
    ),
)
def test_invalid_options_are_rejected_with_what_is_allowed(arguments: list[str], message: str) -> None:
    done = croupier("solve", *arguments, variables={"COLUMNS": "200"})
    assert done.returncode == 2
    assert message in done.stdout + done.stderr


def test_without_a_game_the_games_are_listed() -> None:
    printed = solved()
    assert all(game in printed for game in ("blackjack", "kuhn", "oldmaid", "sevenhalf"))


def test_solvers_are_imported_on_demand() -> None:
    check = "import sys, croupier.cli.solve, croupier.strategy.zero_sum; print({'numpy', 'highspy'} & {*sys.modules})"
    assert subprocess.check_output([sys.executable, "-c", check], text=True) == "set()\n"


@pytest.mark.extended
def test_a_closed_pipe_ends_solve_silently() -> None:
    with subprocess.Popen(
        [*COMMAND, "solve", "blackjack", "--csv"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(),
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline().startswith(b"hand,")
        process.stdout.close()
        assert process.stderr.read() == b""


def progress_output(monkeypatch: pytest.MonkeyPatch, delay: float, *, terminal: bool) -> str:
    """Return the output of `track_progress` over 500 decisions."""
    monkeypatch.setattr(solve, "PROGRESS_DELAY_SECONDS", delay)
    console = Console(file=io.StringIO(), force_terminal=terminal, width=80)
    states = [BLACKJACK.start(bet) for bet in range(500)]
    assert [*solve.track_progress(states, console)] == states
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_a_progress_bar_appears_after_the_delay_on_terminals_only(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "solving" in progress_output(monkeypatch, -1, terminal=True)
    assert "solving" not in progress_output(monkeypatch, 100, terminal=True)
    assert progress_output(monkeypatch, -1, terminal=False) == ""
