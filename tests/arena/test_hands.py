"""The hands of a tournament are played again, and are the rows of a dataset if they have the recorded results."""

import json
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from croupier.arena.hands import RecordedTournament
from croupier.arena.plan import Plan, source_digest
from croupier.arena.record import CHUNKS_FILE, Record
from croupier.arena.runner import Job, SerialRunner
from croupier.arena.tally import Tally
from croupier.arena.tournament import Tournament
from croupier.cli.hands import export
from croupier.clients.contestants import parse_contestant
from croupier.recording.dataset_columns import columns_of
from croupier.rooms import ROOMS
from croupier.rooms.holdem.engine.stakes import STAKES
from croupier.rooms.holdem.histories import from_acpc
from tests.arena import bots

FILE = Path(bots.__file__)


def recorded(folder: Path, room: str, names: tuple[str, ...], **fields: Any) -> Tournament:
    plan = Plan(room, names, pairs=200, seed=3, sources=(None,) * len(names), **fields)
    record = Record(folder, plan)
    tournament = Tournament(plan, on_chunk=record.add)
    for _ in tournament.play(SerialRunner(plan)):
        pass
    record.close()
    return tournament


@pytest.mark.parametrize(
    ("room", "names", "fields"),
    [
        ("kuhn", ("equilibrium", "book:always-bet", "random"), {"duplicate": True}),
        ("blackjack", ("book", "random"), {}),
        ("sevenhalf", ("book", "random"), {"adjust": "bank-best-1"}),
        ("holdem", ("tight", "random"), {"duplicate": True}),
    ],
)
def test_rows_have_all_hands_and_their_results(
    tmp_path: Path, room: str, names: tuple[str, ...], fields: dict[str, Any]
) -> None:
    tournament = recorded(tmp_path, room, names, **fields)
    found = RecordedTournament(tmp_path)
    rows = [*found.rows("rows")]
    assert [*rows[0]] == [column.name for column in columns_of(room, is_tournament=True)]
    assert found.plan.digest == tournament.plan.digest
    for table, group in groupby(rows, lambda row: row["table"]):
        first, second = map(int, table.split("-"))
        games = [*group]
        assert [game["number"] for game in games] == [*range(1, 401)]
        assert {name for game in games for name in game["players"]} == {names[first], names[second]}
        won = sum(game["net"][game["players"].index(names[first])] for game in games if names[first] in game["players"])
        if room in {"kuhn", "holdem"}:
            scale = 1 if room == "kuhn" else 100 / STAKES.big_blind
            plain = sum(tally.plain.total for tally in tournament.series[first, second].tallies)
            assert won * scale / 400 == pytest.approx(plain / 200)


def test_lines_of_the_acpc_log_have_the_results(tmp_path: Path) -> None:
    recorded(tmp_path, "holdem", ("tight", "random"))
    for row in RecordedTournament(tmp_path).rows("acpc"):
        _, number, betting, cards, nets, names = row["hand"].split(":")
        hand = from_acpc(f"MATCHSTATE:0:{number}:{betting}:{cards}", [10_000, 10_000], STAKES)
        assert "|".join(map(str, hand.payoff())) == nets
        assert {*names.split("|")} == {"tight", "random"}


def test_hands_with_other_results_are_refused(tmp_path: Path) -> None:
    recorded(tmp_path / "in", "kuhn", ("equilibrium", "random"))
    chunks = tmp_path / "in" / CHUNKS_FILE
    first, rest = chunks.read_text().split("\n", 1)
    chunk = json.loads(first)
    chunk["tally"]["plain"]["total"] += 0.5
    chunks.write_text(f"{json.dumps(chunk)}\n{rest}")
    with pytest.raises(ValueError, match="chunk 0 of equilibrium v random has other results when it is played again"):
        export(tmp_path / "out", tournament=tmp_path / "in")
    assert not (tmp_path / "out").exists()


def test_a_bot_that_forfeits_when_it_plays_again_is_refused(tmp_path: Path) -> None:
    plan = Plan("kuhn", ("random", f"{FILE}:Illegal"), pairs=100, seed=1)
    plan = replace(plan, sources=(None, source_digest(parse_contestant(ROOMS["kuhn"], plan.bots[1]))))
    record = Record(tmp_path, plan)
    record.add(Job((0, 1), 0), Tally(100))
    record.close()
    with pytest.raises(ValueError, match=r"chunk 0 of random v .*Illegal has other results"):
        [*RecordedTournament(tmp_path).rows("rows")]


def test_hands_of_another_bot_or_of_a_program_are_refused(tmp_path: Path) -> None:
    for number, (bot, error) in enumerate(
        [(f"{FILE}:First", "found another version of"), ("mine {host} {port}", "whose hands cannot be played again")]
    ):
        folder = tmp_path / str(number)
        Record(folder, Plan("kuhn", ("random", bot), pairs=100, seed=1, sources=(None, None))).close()
        with pytest.raises(ValueError, match=error):
            RecordedTournament(folder)


def test_a_tournament_is_exported_with_its_data_sheet(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tournament = recorded(tmp_path / "in", "kuhn", ("equilibrium", "random"))
    assert export(tmp_path / "out", tournament=tmp_path / "in") == 0
    assert capsys.readouterr().out == f"400 hands of {tmp_path / 'in'} are in {tmp_path / 'out'}\n"
    sheet = json.loads((tmp_path / "out" / "datasheet.json").read_text())
    assert (sheet["rows"], sheet["title"]) == (400, "Hands of a tournament: Kuhn poker")
    assert tournament.plan.digest in sheet["chosen"]
    assert "follow from the seed 3" in (tmp_path / "out" / "README.md").read_text()
    with pytest.raises(ValueError, match="found --format acpc for hands of kuhn; allowed: rows, parquet"):
        export(tmp_path / "log", export_format="acpc", tournament=tmp_path / "in")
    with pytest.raises(ValueError, match="found --room with --tournament"):
        export(tmp_path / "log", room="kuhn", tournament=tmp_path / "in")
