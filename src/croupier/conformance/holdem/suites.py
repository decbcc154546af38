"""The suites of hold'em: for servers and for bots."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from croupier.conformance.case import Case, make_case_id
from croupier.conformance.holdem.cases import (
    DEAL_RANK,
    RETRIES,
    ROOM,
    WALK_RANK,
    CaseSpec,
    HoldemServerCase,
    rank_of,
    transcript_cases,
)
from croupier.conformance.holdem.client_bench import HoldemClientBench
from croupier.conformance.holdem.context import HoldemContext
from croupier.conformance.holdem.deals import FAIR_DEAL
from croupier.conformance.holdem.framing import FRAMING_CASES
from croupier.conformance.holdem.handwritten import HANDWRITTEN_CASES, TURN_TIMEOUT_CASE
from croupier.conformance.holdem.multi_hand import HSPE_GO_CASES, MULTI_HAND_CASES
from croupier.conformance.holdem.server_bench import HoldemServerBench
from croupier.conformance.holdem.setups import client_cases
from croupier.conformance.holdem.table_cases import TABLE_CASES
from croupier.conformance.holdem.untestable import UNTESTABLE
from croupier.conformance.holdem.walk_clauses import WALK_CLAUSES
from croupier.conformance.suite import Suite


def server_cases() -> Sequence[HoldemServerCase]:
    """Return all cases for servers, in the order of their clauses."""
    specs = (*FRAMING_CASES, *HANDWRITTEN_CASES, *MULTI_HAND_CASES, *TABLE_CASES)
    handwritten = [_case_from_spec(spec) for spec in specs]
    handwritten += [_case_from_spec(spec, dialect="hspe-go") for spec in HSPE_GO_CASES]
    slow = _case_from_spec(TURN_TIMEOUT_CASE, beside=True)
    walked = [
        HoldemServerCase(
            id=make_case_id(ROOM, clause, "played"),
            title=title,
            clause=clause,
            play=_play_nothing,
            clauses=(clause,),
            is_from_walks=True,
            rank=WALK_RANK,
        )
        for clause, title in WALK_CLAUSES.items()
    ]
    fair_deal = HoldemServerCase(
        id=make_case_id(ROOM, FAIR_DEAL.clause, "fair-deal"),
        title="The cards of all hands are dealt as from a shuffled deck",
        clause=FAIR_DEAL.clause,
        play=_play_nothing,
        clauses=(FAIR_DEAL.clause,),
        is_from_walks=True,
        judges_deals=True,
        rank=DEAL_RANK,
    )
    return tuple(sorted((*transcript_cases(), *handwritten, slow, *walked, fair_deal), key=_sort_key))


def untestable_of_bots(cases: Sequence[Case]) -> Mapping[str, str]:
    """Return the clauses that no case for bots tests, each with the reason."""
    tested = {case.clause for case in cases}
    return {clause: why for clause, why in UNTESTABLE.items() if clause not in tested}


def _sort_key(case: Case) -> tuple[int, int, str]:
    section, number = case.section.split(".")
    return int(section), int(number), case.id


def _case_from_spec(spec: CaseSpec, **more: Any) -> HoldemServerCase:
    clause, slug, title, play, more_clauses, rank = spec
    return HoldemServerCase(
        id=make_case_id(ROOM, clause, slug),
        title=title,
        clause=clause,
        play=play,
        clauses=(clause, *more_clauses),
        rank=rank_of(clause) if rank is None else rank,
        retries=RETRIES,
        **more,
    )


async def _play_nothing(context: HoldemContext) -> None:
    """Cases from walks have no conversation of their own."""


SERVERS: Final = Suite(8.0, server_cases, lambda _: UNTESTABLE, HoldemServerBench)
BOTS: Final = Suite(20.0, client_cases, untestable_of_bots, HoldemClientBench)
