"""A tournament on a Dask cluster of processes has the results of one machine, also when workers die."""

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from time import sleep
from typing import Self

import pytest
import trustme
from distributed import Client

from croupier.arena import cluster
from croupier.arena.cluster import BATCHES_PER_THREAD, MAX_BATCH_CHUNKS, ClusterRunner, check_address
from croupier.arena.cluster_worker import ClusterError, difference, versions_for
from croupier.arena.plan import Plan
from croupier.arena.runner import Job, ProcessRunner, Runner, SerialRunner
from croupier.arena.tally import Tally
from croupier.arena.tournament import Tournament
from croupier.cli.arena import PlanOptions
from tests.arena import bots, faulty_kuhn_client
from tests.processes import PATIENCE, Background, Serving, croupier, environment

pytestmark = pytest.mark.interop

FILE = Path(bots.__file__)

CAREFUL = """
class Careful:
    def choose(self, view, legal, luck):
        brave = view.card == "K" or (view.card == "Q" and luck.below(3) == 0)
        if "CAL" in legal:
            return "CAL" if brave else "FLD"
        return "BET" if brave else "CHK"


class Named(Careful):
    def choose(self, view, legal, luck):
        if luck.below(100) == 0:
            raise RuntimeError(self)
        return super().choose(view, legal, luck)
"""


class Cluster:
    """A scheduler and its workers, each a process without a nanny."""

    def __init__(self, folder: Path, workers: int, variables: Mapping[str, str] | None = None) -> None:
        self.workers: list[subprocess.Popen[bytes]] = []
        self._environment = environment(variables)
        self._folder = folder
        self._count = workers

    def __enter__(self) -> Self:
        file = self._folder / "scheduler.json"
        self.scheduler = self._start("scheduler", "--host", "127.0.0.1", "--port", 0, "--scheduler-file", file)
        while not file.exists() or not file.read_bytes():
            assert self.scheduler.poll() is None
            sleep(0.02)
        self.address = str(json.loads(file.read_text())["address"])
        for _ in range(self._count):
            self.add_worker()
        return self

    def __exit__(self, *error: object) -> None:
        for process in (*self.workers, self.scheduler):
            process.kill()
            process.wait()

    def add_worker(self) -> None:
        """Start a worker, and wait until the scheduler knows it."""
        self.start_worker()
        with Client(self.address, set_as_default=False) as client:
            client.wait_for_workers(sum(worker.poll() is None for worker in self.workers), PATIENCE)

    def start_worker(self) -> None:
        """Start a worker."""
        self.workers.append(self._start("worker", self.address, "--nthreads", 1, "--no-nanny", "--host", "127.0.0.1"))

    def _start(self, program: str, *arguments: object) -> subprocess.Popen[bytes]:
        words = [sys.executable, "-m", f"distributed.cli.dask_{program}", "--no-dashboard", *map(str, arguments)]
        with (self._folder / "log.txt").open("ab") as log:
            return subprocess.Popen(
                words, cwd=self._folder, env=self._environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log
            )


@pytest.fixture(scope="module")
def two_workers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with Cluster(tmp_path_factory.mktemp("cluster"), workers=2) as running:
        yield running


@pytest.fixture
def careful(tmp_path: Path) -> str:
    (tmp_path / "mine.py").write_text(CAREFUL)
    return f"{tmp_path / 'mine.py'}:Careful"


def plan(*names: str, room: str = "kuhn", hands: int = 6000, until_sure: bool = False) -> Plan:
    options = PlanOptions(hands=hands, duplicate=True, adjust=True, until_sure=until_sure)
    return options.make_plan(room, names)


def result(played: Plan, runner: Runner) -> bytes:
    tournament = Tournament(played)
    for _ in tournament.play(runner):
        pass
    return tournament.result().to_json()


def test_the_result_is_the_same_in_one_process_in_two_and_on_one_worker_and_two(tmp_path: Path, careful: str) -> None:
    plans = [
        plan("equilibrium", careful, "book:always-bet", hands=3000),
        plan("equilibrium", "random", careful, until_sure=True, hands=20_000),
        plan("random", f"{FILE}:Raises", f"{FILE}:Illegal", hands=2000),
        plan("exact", "book", room="blackjack", hands=2000),
        plan("tight", "caller", room="holdem", hands=400),
    ]
    expected = [result(each, SerialRunner(each)) for each in plans]
    for each, found in zip(plans, expected, strict=True):
        with ProcessRunner(each, 2) as processes:
            assert result(each, processes) == found
    with Cluster(tmp_path, workers=1) as running:
        for count in (1, 2):
            if count > len(running.workers):
                running.add_worker()
            for each, found in zip(plans, expected, strict=True):
                with ClusterRunner(each, running.address) as runner:
                    assert result(each, runner) == found


def test_a_killed_worker_changes_nothing(tmp_path: Path, careful: str) -> None:
    played = plan("equilibrium", careful, hands=200_000)
    with Cluster(tmp_path, workers=2) as running, ClusterRunner(played, running.address) as runner:
        tournament = Tournament(played)
        for series in tournament.play(runner):
            if series.tallies and running.workers[0].poll() is None:
                assert len(series.tallies) < played.chunks
                os.kill(running.workers[0].pid, signal.SIGKILL)
                running.workers[0].wait()
    assert tournament.result().to_json() == result(played, SerialRunner(played))


def test_a_tournament_whose_scheduler_dies_goes_on_with_another_cluster(
    tmp_path: Path, two_workers: Cluster, careful: str
) -> None:
    words = ("arena", "kuhn", "equilibrium", careful, "--hands", 2_000_000, "--json")
    out = ("--out", tmp_path / "out")
    with Cluster(tmp_path, workers=1) as running:
        with Background(*words, *out, "--cluster", running.address) as process:
            wait_for_chunks(tmp_path / "out")
            running.scheduler.kill()
            done = process.end()
        assert done.returncode == 1
        lost = f"croupier: the scheduler at {running.address} is gone: the connection was lost; "
        assert done.stderr == f"{lost}run the same command with --resume to go on\n"
        assert json.loads(done.stdout)["pairs"][0]["status"] == "interrupted"
    resumed = croupier(*words, *out, "--resume", "--cluster", two_workers.address)
    assert resumed.stdout == croupier(*words).stdout


def test_an_interrupted_tournament_keeps_its_chunks(tmp_path: Path, two_workers: Cluster, careful: str) -> None:
    words = ("arena", "kuhn", "equilibrium", careful, "--hands", 2_000_000, "--json")
    out = ("--out", tmp_path / "out", "--cluster", two_workers.address)
    with Background(*words, *out) as process:
        wait_for_chunks(tmp_path / "out")
        process.signal(signal.SIGINT)
        done = process.end()
    assert done.returncode == 130, done.stderr
    assert done.stderr == "croupier: the tournament was interrupted; run the same command with --resume to go on\n"
    assert json.loads(done.stdout)["pairs"][0]["status"] == "interrupted"
    assert croupier(*words, *out, "--resume").stdout == croupier(*words).stdout


def wait_for_chunks(folder: Path) -> None:
    while not (folder / "chunks.jsonl").exists() or not (folder / "chunks.jsonl").read_bytes():
        sleep(0.005)


def test_workers_need_no_file_of_a_bot(tmp_path: Path, two_workers: Cluster, careful: str) -> None:
    played = plan("equilibrium", careful.replace("Careful", "Named"), hands=200)
    (found,) = SerialRunner(played).run([Job((0, 1), 0)])
    assert found[1].faults[0].reason.endswith("RuntimeError: <Named object>")
    with ClusterRunner(played, two_workers.address) as runner:
        (tmp_path / "mine.py").unlink()
        assert [*runner.run([Job((0, 1), 0)])] == [found]


def test_a_file_that_imports_its_neighbours_is_refused(tmp_path: Path, two_workers: Cluster) -> None:
    (tmp_path / "neighbour_of_mine.py").write_text(CAREFUL)
    (tmp_path / "importing.py").write_text("from neighbour_of_mine import Careful")
    played = plan("equilibrium", f"{tmp_path / 'importing.py'}:Careful", hands=200)
    with (
        ClusterRunner(played, two_workers.address) as runner,
        pytest.raises(ClusterError, match=r"the worker tcp://.* cannot play: .*No module named 'neighbour_of_mine'"),
    ):
        next(runner.run([Job((0, 1), 0)]))


def test_a_file_that_changed_is_refused(tmp_path: Path, careful: str) -> None:
    played = plan("equilibrium", careful)
    (tmp_path / "mine.py").write_text(f"{CAREFUL}# better\n")
    with pytest.raises(ValueError, match="found another version of the file"):
        ClusterRunner(played, "127.0.0.1:1")


def test_programs_run_on_the_workers(two_workers: Cluster) -> None:
    """It plays without randomness, so that its results are those of one machine."""
    command = f"{sys.executable} -S {Path(faulty_kuhn_client.__file__)} {{host}} {{port}} none 1000"
    played = plan("equilibrium", command, hands=600)
    with ClusterRunner(played, two_workers.address) as runner:
        assert result(played, runner) == result(played, SerialRunner(played))


def test_a_program_that_a_worker_does_not_have_is_no_forfeit(two_workers: Cluster) -> None:
    played = plan("random", "no-such-program {port}", hands=200)
    with (
        ClusterRunner(played, two_workers.address) as runner,
        pytest.raises(ClusterError, match=r"worker tcp://\S+ cannot play: found no program 'no-such-program' in /"),
    ):
        next(runner.run([Job((0, 1), 0)]))


def test_a_server_is_reached_from_the_workers(two_workers: Cluster) -> None:
    with Serving("kuhn", "--port", 0, "--journal", "off", "--bot", "script:CHK,FLD") as server:
        played = Plan("kuhn", ("book:always-bet", server.address), pairs=200, seed=1)
        with ClusterRunner(played, two_workers.address) as runner:
            found = json.loads(result(played, runner))
    assert [(pair["mean"], pair["hands"], pair["status"]) for pair in found["pairs"]] == [(1.0, 400, "finished")]


@pytest.mark.parametrize(("name", "reason"), [("Exits", "its process died"), ("Hangs", "no move after 10 seconds")])
def test_a_bot_that_dies_or_hangs_forfeits_and_its_worker_goes_on(two_workers: Cluster, name: str, reason: str) -> None:
    tallies: Mapping[Job, Tally]
    played = plan("random", f"{FILE}:{name}", hands=200)
    with ClusterRunner(played, two_workers.address) as runner:
        tallies = dict(runner.run([Job((0, 1), 0)]))
    assert [(fault.bot, fault.reason) for fault in tallies[Job((0, 1), 0)].faults] == [(1, reason)]
    assert all(worker.poll() is None for worker in two_workers.workers)


def test_a_few_batches_are_in_flight_and_not_all_chunks(two_workers: Cluster) -> None:
    played = plan("equilibrium", "random", hands=200_000_000)
    jobs = (Job((0, 1), chunk) for chunk in range(played.chunks))
    with ClusterRunner(played, two_workers.address) as runner:
        for _ in zip(range(200), runner.run(jobs), strict=False):
            pass
    assert next(jobs).chunk <= 200 + (1 + BATCHES_PER_THREAD) * 2 * MAX_BATCH_CHUNKS


@pytest.mark.parametrize("address", ["localhost", "ucx://127.0.0.1:1", "tcp://", "127.0.0.1:0", "127.0.0.1:x"])
def test_an_invalid_address_is_refused(address: str) -> None:
    with pytest.raises(ValueError, match=r"^found .*; allowed: "):
        check_address(address)


def test_an_address_without_a_scheme_is_tcp() -> None:
    assert check_address("[::1]:8786") == "tcp://[::1]:8786"
    assert check_address("tls://example.org:8786") == "tls://example.org:8786"


def test_an_address_without_a_scheduler_is_an_error(
    tmp_path: Path, two_workers: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster, "CONNECT_TIMEOUT_SECONDS", 1.0)
    played = plan("random", "equilibrium")
    with closing(socket.create_server(("127.0.0.1", 0))) as silent:
        port = silent.getsockname()[1]
        with pytest.raises(ClusterError, match=f"at tcp://127.0.0.1:{port}: no answer after 1 seconds"):
            ClusterRunner(played, f"127.0.0.1:{port}")
    with pytest.raises(ClusterError, match="no answer after 1 seconds"):
        ClusterRunner(played, f"127.0.0.1:{port}")
    with pytest.raises(ClusterError, match="perhaps check your TLS configuration"):
        ClusterRunner(played, two_workers.address.replace("tcp", "tls"))
    monkeypatch.setattr(cluster, "CONNECT_TIMEOUT_SECONDS", PATIENCE)
    with Client(two_workers.address, set_as_default=False) as client:
        worker = next(iter(client.nthreads()))
    with pytest.raises(ClusterError, match="found a Worker"):
        ClusterRunner(played, worker)
    out = tmp_path / "out"
    done = croupier("arena", "kuhn", "random", "equilibrium", "--out", out, "--cluster", f"127.0.0.1:{port}")
    assert (done.returncode, out.exists()) == (1, False)
    assert "cannot reach a Dask scheduler" in done.stderr


def test_a_cluster_with_tls_uses_the_configuration_of_dask(tmp_path: Path) -> None:
    authority = trustme.CA()
    authority.cert_pem.write_to_path(tmp_path / "ca.pem")
    authority.issue_cert("127.0.0.1").private_key_and_cert_chain_pem.write_to_path(tmp_path / "own.pem")
    prefix = "DASK_DISTRIBUTED__COMM__"
    variables = {f"{prefix}DEFAULT_SCHEME": "tls", f"{prefix}TLS__CA_FILE": str(tmp_path / "ca.pem")}
    for role in ("SCHEDULER", "WORKER", "CLIENT"):
        variables |= {f"{prefix}TLS__{role}__{kind}": str(tmp_path / "own.pem") for kind in ("CERT", "KEY")}
    words = ("arena", "kuhn", "random", "equilibrium", "--hands", 400, "--json")
    with Cluster(tmp_path, workers=0, variables=variables) as running:
        assert running.address.startswith("tls://127.0.0.1:")
        running.start_worker()
        done = croupier(*words, "--cluster", running.address, variables=variables)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == croupier(*words).stdout


def test_a_cluster_without_workers_is_given_up(tmp_path: Path) -> None:
    played = plan("random", "equilibrium")
    with (
        Cluster(tmp_path, workers=0) as running,
        ClusterRunner(played, running.address, worker_timeout=0.5) as runner,
        pytest.raises(ClusterError, match="has no workers; start some with: dask worker ADDRESS"),
    ):
        next(runner.run([Job((0, 1), 0)]))


def test_other_versions_are_refused(two_workers: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    played = plan("random", "equilibrium")
    ours = versions_for(played)
    assert difference(ours, ours) is None
    monkeypatch.setattr(cluster, "versions_for", lambda _: (("croupier", "9.9"), *ours[1:]))
    with pytest.raises(ClusterError, match=r"the scheduler at .* has croupier .*; allowed: 9\.9, as in this process"):
        ClusterRunner(played, two_workers.address)
    monkeypatch.setattr(ClusterRunner, "_check_versions", lambda _: None)  # as for a worker that comes later
    with (
        ClusterRunner(played, two_workers.address) as runner,
        pytest.raises(ClusterError, match=r"the worker .* cannot play: found croupier .*; allowed: 9\.9"),
    ):
        next(runner.run([Job((0, 1), 0)]))
