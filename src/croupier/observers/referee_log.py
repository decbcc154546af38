"""Observer that lets the room's referee check every conversation of a house, and logs the violations."""

from functools import partial
from typing import Any, Protocol

from croupier.core.referee import HOUSE, RefereeObserver, Verdict
from croupier.core.room import HouseRoom
from croupier.core.session import Peer


class ViolationLogger(Protocol):
    """The methods of a logger that this module uses."""

    def error(self, event: str, **facts: object) -> object: ...  # noqa: D102 -- as in Logger
    def info(self, event: str, **facts: object) -> object: ...  # noqa: D102 -- as in Logger


def referee_log(room: HouseRoom, settings: Any, log: ViolationLogger, *, strict: bool) -> RefereeObserver[Any]:
    """Return an observer that logs violations by the house as errors, and those by clients at level info.

    `settings` are those of the house; every client begins with its initial purse.
    """
    return RefereeObserver(partial(room.referee, settings, strict), partial(_log_verdict, log))


def _log_verdict(log: ViolationLogger, peer: Peer, verdict: Verdict) -> None:
    violation = verdict.violation
    facts = {"peer": peer, "clause": violation.clause, "found": violation.found, "allowed": violation.allowed}
    if verdict.party == HOUSE:
        log.error("violation by the house", **facts)
    else:
        log.info("violation by the client", **facts)
