"""A report with a result of every kind, some of them with hostile text."""

from croupier.conformance.conversation import Conversation
from croupier.conformance.diagnosis.cause import Cause
from croupier.conformance.results import Failure, Outcome, Report, Result
from croupier.core.referee import CLIENT, HOUSE
from croupier.rooms.kuhn import ROOM

NASTY = "<script>alert('x')</script> & \x1b[31m | # ` \ud800 \u202e"
"""Text of a stranger who wants to be obeyed by a page, a terminal, or a parser."""

QUOTES = "it puts quotes around its arguments"


def talk(*said: tuple[int, bytes]) -> Conversation:
    conversation = Conversation(ROOM, strict=True)
    for side, data in said:
        conversation.on_data(side, data, 1.0)
    return conversation


QUOTED = talk((CLIENT, b"STRT P_1"), (HOUSE, b'CARD "C_Q"'))
PROSE = talk((CLIENT, b"STRT P_1"), (HOUSE, b"\x1b[2J<b>"))


def quoted(case: str) -> Result:
    room, section, _ = case.split("/")
    failure = Failure("kuhn-2.6", "CARD with C_J, C_Q, C_K", "'CARD \"C_'", b"CARD C_Q", b'CARD "C_Q"', Cause(QUOTES))
    return Result(case, "A bet", f"{room}-{section}", Outcome.FAIL, "", failure, tuple(QUOTED.lines), 0.25)


RESULTS = (
    Result("kuhn/4.1/deal", "The house deals", "kuhn-4.1", Outcome.PASS, seconds=0.5),
    quoted("kuhn/4.2/deal-and-act"),
    quoted("kuhn/4.3/check"),
    Result(
        "kuhn/4.4/prose",
        NASTY,
        "kuhn-4.4",
        Outcome.FAIL,
        "",
        Failure("kuhn-2.7", "one of the codes", NASTY, None, b"\x1b[2J<b>", Cause("it may have failed", is_guess=True)),
        tuple(PROSE.lines),
    ),
    Result("kuhn/2.5/quotes", "Quotes", "kuhn-2.5", Outcome.NON_STRICT, "quotes were sent"),
    Result("kuhn/2.4/typed", "Typed by hand", "kuhn-2.4", Outcome.CHOICE, "line ends are taken"),
    Result("kuhn/4.6/call", "A call", "kuhn-4.6", Outcome.UNIMPLEMENTED, "ACTN CAL is refused everywhere"),
    Result("kuhn/7.3/poor", "No coin # left", "kuhn-7.3", Outcome.SKIP, "the purse was never empty"),
)

REPORT = Report(
    room="kuhn",
    role="server",
    target="127.0.0.1:1212",
    repeat_template="croupier check {case} 127.0.0.1:1212 --seed 7",
    version="0.1.0",
    seed=7,
    started_at=1_700_000_000.0,
    seconds=2.5,
    results=RESULTS,
    stderr=f"Traceback\n\tat {NASTY}",
)
