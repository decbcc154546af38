"""The record of a tournament in a folder: the plan, every chunk as it is played, and the results.

A tournament that was interrupted, even by a power cut, goes on with the chunks that are missing.
"""

from collections.abc import Mapping
from io import BufferedWriter
from pathlib import Path
from typing import ClassVar, Final

from msgspec import structs

from croupier.arena.plan import Pairing, Plan
from croupier.arena.runner import Job
from croupier.arena.tally import Tally
from croupier.arena.tournament import TournamentResult
from croupier.core.stored import Stored

PLAN_FILE: Final = "plan.json"
CHUNKS_FILE: Final = "chunks.jsonl"
RESULTS_FILE: Final = "results.json"


class ChunkRecord(Stored, frozen=True):
    """A chunk that was played."""

    MALFORMED: ClassVar[str] = "a malformed chunk"

    pairing: Pairing
    chunk: int
    tally: Tally


class Record:
    """The record of a tournament in `folder`, which is made if it does not exist. `played` has its chunks so far.

    With `resume` an earlier run of the same plan goes on. Raises ValueError if the folder holds another tournament, or
    any without `resume`, and OSError if it cannot be read or written. Close it after use.
    """

    def __init__(self, folder: Path, plan: Plan, *, resume: bool = False) -> None:
        self._folder = folder
        self.played: Mapping[Job, Tally] = {}
        folder.mkdir(parents=True, exist_ok=True)
        plan_file = folder / PLAN_FILE
        if plan_file.exists():
            if not resume:
                raise ValueError(f"found a tournament in {folder}; add --resume to go on, or choose another folder")
            _check_equal(Plan.from_json(plan_file.read_bytes()), plan, folder)
            self.played = self._read_chunks()
        else:
            unfinished = plan_file.with_suffix(".new")
            unfinished.write_bytes(plan.to_json() + b"\n")
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

    def _read_chunks(self) -> Mapping[Job, Tally]:
        """The chunks of an earlier run; a last line that was not written whole is removed."""
        file = self._folder / CHUNKS_FILE
        if not file.exists():
            return {}
        data = file.read_bytes()
        whole = data[: data.rfind(b"\n") + 1]
        if len(whole) < len(data):
            file.write_bytes(whole)
        records = map(ChunkRecord.from_json, whole.splitlines())
        return {Job(record.pairing, record.chunk): record.tally for record in records}


def _check_equal(found: Plan, plan: Plan, folder: Path) -> None:
    """Raise ValueError if the plan in a folder is another one."""
    ours, theirs = structs.asdict(plan), structs.asdict(found)
    different = [f"{name} = {theirs[name]!r}" for name in ours if ours[name] != theirs[name]]
    if different:
        raise ValueError(f"found another tournament in {folder}, with {', '.join(different)}")
