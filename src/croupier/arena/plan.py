"""The plan of a tournament: everything that its result depends on."""

from hashlib import sha256
from typing import ClassVar, Literal

from croupier.clients.contestants import Contestant
from croupier.core.bot_files import BotFile
from croupier.core.stored import Stored

type Schedule = Literal["round-robin", "gauntlet", "swiss"]
"""Who plays whom: all each other, the first bot all others, or bots with similar results."""

type Pairing = tuple[int, int]
"""The numbers of two bots in the plan; results are those of the first."""


class Plan(Stored, frozen=True, forbid_unknown_fields=True):
    """What is played, and how it is judged. Two runs of one plan have equal results, on any number of processes.

    `bots` are contestants as on the command line, and `sources` the hashes of those that are files. Every pairing plays
    `pairs` pairs of hands, or up to as many with `until_sure`. A pair is two hands with the seats exchanged; with
    `duplicate` both have the same deal. `adjust` is the id of the baseline that removes luck, None for plain results.
    Pairs are played in chunks of `chunk_pairs`, each with random numbers of its own, and chunks are whole. Intervals
    have the confidence 1 − `alpha`. With `until_sure` they are always valid, and narrowest after about `t_star` pairs.
    With `leaks`, other choices are tried in games whose leaks are estimated. A program has `answer_seconds` for each of
    its messages.
    """

    MALFORMED: ClassVar[str] = "a malformed plan"

    room: str
    bots: tuple[str, ...]
    pairs: int
    seed: int
    sources: tuple[str | None, ...] = ()
    duplicate: bool = False
    adjust: str | None = None
    until_sure: bool = False
    leaks: bool = False
    schedule: Schedule = "round-robin"
    chunk_pairs: int = 100
    alpha: float = 0.05
    t_star: int = 1000
    answer_seconds: float = 10.0

    @property
    def chunks(self) -> int:
        """The number of chunks of a pairing, which all have `chunk_pairs` pairs."""
        return -(-self.pairs // self.chunk_pairs)

    @property
    def digest(self) -> str:
        """The hash of the plan, which stands in its results."""
        return _digest(self.to_json())


def source_digest(contestant: Contestant) -> str | None:
    """The hash of the file of a contestant; None if it is no file."""
    file = BotFile.parse(contestant.bot_name) if contestant.kind == "file" else None
    return None if file is None else _digest(file.path.read_bytes())


def _digest(data: bytes) -> str:
    return f"sha256:{sha256(data).hexdigest()}"
