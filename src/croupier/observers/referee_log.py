"""Observer that lets the room's referee check every conversation of a house, and logs the violations."""

from functools import partial
from typing import Any

from croupier.core.logger import Logger
from croupier.core.referee import HOUSE, RefereeObserver, Verdict
from croupier.core.room import HouseRoom
from croupier.core.session import Peer


def referee_log(room: HouseRoom, settings: Any, log: Logger, *, strict: bool) -> RefereeObserver[Any]:
    """Return an observer that logs violations by the house as errors, and those by clients at level info.

    `settings` are those of the house; every client begins with its initial purse.
    """
    return RefereeObserver(partial(room.referee, settings, strict), partial(_log_verdict, log))


def _log_verdict(log: Logger, peer: Peer, verdict: Verdict) -> None:
    violation = verdict.violation
    facts = {"peer": peer, "clause": violation.clause, "found": violation.found, "allowed": violation.allowed}
    if verdict.party == HOUSE:
        log.error("violation by the house", **facts)
    else:
        log.info("violation by the client", **facts)
