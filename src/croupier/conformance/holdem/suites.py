"""The suites of hold'em: for servers and for bots."""

from collections.abc import Iterator, Sequence
from typing import Final

from croupier.conformance.holdem.cases import (
    DEAL_RANK,
    WALK_RANK,
    HoldemServerCase,
    transcript_cases,
)
from croupier.conformance.holdem.client_bench import HoldemClientBench
from croupier.conformance.holdem.deals import FAIR_DEAL
from croupier.conformance.holdem.dialects import HSPE_GO_ONLY
from croupier.conformance.holdem.framing import FRAMING_CASES
from croupier.conformance.holdem.handwritten import HANDWRITTEN_CASES
from croupier.conformance.holdem.multi_hand import MULTI_HAND_CASES
from croupier.conformance.holdem.server_bench import HoldemServerBench
from croupier.conformance.holdem.setups import client_cases
from croupier.conformance.holdem.table_cases import TABLE_CASES
from croupier.conformance.holdem.turn_time_cases import TURN_TIME_CASES
from croupier.conformance.holdem.untestable import UNTESTABLE
from croupier.conformance.holdem.walk_clauses import WALK_CLAUSES
from croupier.conformance.suite import FAIR_DEAL_SLUG, Suite


def server_cases() -> Sequence[HoldemServerCase]:
    """Return all cases for servers, in the order of their clauses."""
    written = (*FRAMING_CASES, *HANDWRITTEN_CASES, *TURN_TIME_CASES, *MULTI_HAND_CASES, *TABLE_CASES)
    cases = (*transcript_cases(), *written, *_walked_cases())
    return tuple(sorted(cases, key=lambda case: (case.clause_number, case.id)))


def _walked_cases() -> Iterator[HoldemServerCase]:
    """Yield the cases whose results come from walks."""
    for clause, title in WALK_CLAUSES.items():
        yield HoldemServerCase(clause=clause, slug="played", title=title, rank=WALK_RANK)
    yield HoldemServerCase(
        clause=FAIR_DEAL.clause,
        slug=FAIR_DEAL_SLUG,
        title="The cards of all hands are dealt as from a shuffled deck",
        judges_deals=True,
        rank=DEAL_RANK,
    )


SERVERS: Final = Suite(8.0, server_cases, UNTESTABLE, HoldemServerBench)
BOTS: Final = Suite(
    20.0,
    client_cases,
    UNTESTABLE,
    HoldemClientBench,
    placeholders=("url", "host", "port", "user", "password", "game"),
    spoken_dialects=(HSPE_GO_ONLY,),
)
