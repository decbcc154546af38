"""The record of a tournament in a folder: the plan, every chunk as it is played, and the results.

A tournament that was interrupted, even by a power cut, goes on with the chunks that are missing.
"""

import os
from collections.abc import Mapping, Sequence
from io import BufferedWriter
from pathlib import Path
from typing import ClassVar, Final, Self

from msgspec import structs

from croupier.arena.plan import Pairing, Plan
from croupier.arena.runner import Job
from croupier.arena.tally import Tally
from croupier.arena.tournament import TournamentResult
from croupier.core.stored import Stored
from croupier.version import __version__

PLAN_FILE: Final = "plan.json"
CHUNKS_FILE: Final = "chunks.jsonl"
RESULTS_FILE: Final = "results.json"


class RecordedPlan(Plan, frozen=True):
    """The plan of a tournament, with the version of croupier that plays it."""

    croupier: str = ""

    @classmethod
    def of(cls, plan: Plan) -> Self:
        """A plan that this version plays."""
        return cls(**structs.asdict(plan), croupier=__version__)

    @property
    def plan(self) -> Plan:
        """The plan alone."""
        return Plan(**{name: getattr(self, name) for name in Plan.__struct_fields__})


class ChunkRecord(Stored, frozen=True):
    """A chunk that was played."""

    MALFORMED: ClassVar[str] = "a malformed chunk"

    pairing: Pairing
    chunk: int
    tally: Tally


class Record:
    """The record of a tournament in `folder`, which is made if it does not exist. `played` has its chunks so far.

    With `resume` an earlier run of the same plan goes on. Raises ValueError if the folder holds another tournament, or
    one that another version of croupier has begun, or any without `resume`, and OSError if it cannot be read or
    written. Close it after use.
    """

    def __init__(self, folder: Path, plan: Plan, *, resume: bool = False) -> None:
        self._folder = folder
        self.played: Mapping[Job, Tally] = {}
        folder.mkdir(parents=True, exist_ok=True)
        plan_file = folder / PLAN_FILE
        if plan_file.exists():
            if not resume:
                raise ValueError(f"found a tournament in {folder}; add --resume to go on, or choose another folder")
            earlier = RecordFollower(folder)
            _check_equal(earlier.recorded_plan, RecordedPlan.of(plan), folder)
            self.played = {Job(each.pairing, each.chunk): each.tally for each in earlier.read()}
            if (folder / CHUNKS_FILE).exists():
                os.truncate(folder / CHUNKS_FILE, earlier.size)  # without a last line that was not written whole
        else:
            unfinished = plan_file.with_suffix(".new")
            unfinished.write_bytes(RecordedPlan.of(plan).to_json() + b"\n")
            unfinished.replace(plan_file)
        self._chunks: BufferedWriter = (folder / CHUNKS_FILE).open("ab")

    def add(self, job: Job, tally: Tally) -> None:
        """Write a chunk."""
        self._chunks.write(ChunkRecord(job.pairing, job.chunk, tally).to_json() + b"\n")
        self._chunks.flush()

    def write_results(self, result: TournamentResult) -> None:
        """Write the results."""
        (self._folder / RESULTS_FILE).write_bytes(result.to_json() + b"\n")

    def close(self) -> None:
        """Close the file of chunks."""
        self._chunks.close()


class RecordFollower:
    """Reads the record of a tournament in a folder, also while another process writes it.

    `size` is the number of bytes of the chunks that were read. Raises OSError if the record cannot be read,
    FileNotFoundError before it is begun, and ValueError if it is malformed.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._plan = (folder / PLAN_FILE).read_bytes()
        self.recorded_plan = RecordedPlan.from_json(self._plan)
        self.size = 0

    @property
    def plan(self) -> Plan:
        """The plan of the tournament."""
        return self.recorded_plan.plan

    def read(self) -> Sequence[ChunkRecord]:
        """The chunks that were written since the last call, without a last line that is not written whole."""
        file = self._folder / CHUNKS_FILE
        if not file.exists():
            return []
        with file.open("rb") as chunks:
            chunks.seek(self.size)
            data = chunks.read()
        lines = data[: data.rfind(b"\n") + 1]
        self.size += len(lines)
        return [ChunkRecord.from_json(line) for line in lines.splitlines()]

    @property
    def is_over(self) -> bool:
        """Whether the tournament has its results."""
        return (self._folder / RESULTS_FILE).exists()

    @property
    def is_replaced(self) -> bool:
        """Whether the folder has another tournament now, or none."""
        plan, chunks = self._folder / PLAN_FILE, self._folder / CHUNKS_FILE
        try:
            return plan.read_bytes() != self._plan or chunks.stat().st_size < self.size
        except FileNotFoundError:
            return True


def _check_equal(found: RecordedPlan, plan: RecordedPlan, folder: Path) -> None:
    """Raise ValueError if the plan in a folder is another one, or another version of croupier plays it."""
    ours, theirs = structs.asdict(plan), structs.asdict(found)
    different = [f"{name} = {theirs[name]!r}" for name in ours if ours[name] != theirs[name]]
    if different:
        raise ValueError(f"found another tournament in {folder}, with {', '.join(different)}")
