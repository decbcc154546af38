"""Finds the likely cause of a deviation of a hold'em server, by reading its response in the known dialects."""

from collections.abc import Mapping, Sequence
from typing import Final

from croupier.conformance.diagnosis.cause import Cause, dialect_cause
from croupier.conformance.diagnosis.message_dialect import likely_dialect
from croupier.conformance.holdem.deviations import HttpDeviation
from croupier.conformance.holdem.dialects import (
    BARE_GUID_DIALECT,
    FORM_DIALECTS,
    HSPE_GO_DIALECT,
    POT_OF_EACH_BET_DIALECT,
    STATUS_200_DIALECT,
    HttpDialect,
    is_answered_with_guid,
)
from croupier.conformance.holdem.operations import operation_name
from croupier.conformance.holdem.schema import parse_game, parse_games
from croupier.core.errors import FoundKind
from croupier.http.wire import ReceivedResponse, SentRequest, is_server_fault
from croupier.rooms.holdem.wire import Dialect

HSPE_GO_STATUSES: Final = frozenset({(201, 202), (201, 409), (401, 400), (403, 409), (403, 201), (200, 403)})
"""Pairs of (expected, found) statuses of a server of dialect hspe-go."""

STATUS_CAUSES: Final[Mapping[tuple[int, int], Cause]] = {
    (401, 400): Cause("it treats missing credentials as a malformed request, as dialect hspe-go does"),
    (403, 409): Cause("it answers 409 to an act out of turn, as dialect hspe-go does"),
    (201, 200): dialect_cause([STATUS_200_DIALECT]),
}
"""Causes by the expected and the found status."""

ANOTHER_SUCCESS: Final = Cause("it answers with another status of success")
INTERNAL_ERROR: Final = Cause("it has an internal error: see its log")
OBJECT_FOR_GUID: Final = Cause("it answers with an object, as dialect hspe-go does")
EXAMPLE_KEY: Final = Cause("it copies the slip of the document's example")
POTS_CLAUSE: Final = "holdem-5.15"
JSON_CLAUSE: Final = "holdem-1.5"
NOT_JSON: Final = Cause("it answers with something that is not JSON")


def likely_cause(
    deviation: HttpDeviation,
    *,
    is_hspe_go: bool = False,
    dialect: Dialect = "readme",
    detected: HttpDialect | None = None,
) -> Cause | None:
    """Return the likely cause of a deviation, None if none is known.

    `is_hspe_go`: the server answers new users as dialect hspe-go does, although it is tested by the document. Its
    responses are read in the `detected` dialect.
    """
    if deviation.exchange is None or deviation.kind is FoundKind.CLOSED:
        return None
    request, raw = deviation.exchange
    if deviation.wanted_status is not None:
        return _status_cause(deviation.wanted_status, raw.status, is_hspe_go=is_hspe_go)
    response = raw if detected is None else detected.read(raw, request.target)
    if is_answered_with_guid(request.target):
        return _guid_cause(request, response, is_hspe_go=is_hspe_go) if raw.status < 300 else None

    if deviation.clause == POTS_CLAUSE and POT_OF_EACH_BET_DIALECT.read(response, request.target) != response:
        return dialect_cause([POT_OF_EACH_BET_DIALECT])

    def is_wrong(meant: ReceivedResponse) -> bool:
        errors = _form_errors(request, meant, dialect)
        return any((each.clause, each.about) == (deviation.clause, deviation.about) for each in errors)

    if not is_wrong(response):
        return None
    if b'"small blind"' in response.body and b'"small_blind"' not in response.body:
        return EXAMPLE_KEY
    other = NOT_JSON if deviation.clause == JSON_CLAUSE else None
    return likely_dialect(response, request.target, FORM_DIALECTS, lambda meant: not is_wrong(meant)) or other


def _status_cause(wanted: int, found: int, *, is_hspe_go: bool) -> Cause | None:
    if is_hspe_go and (wanted, found) in HSPE_GO_STATUSES:
        return dialect_cause([HSPE_GO_DIALECT])
    if wanted < 300 and 200 <= found < 300:
        return STATUS_CAUSES.get((wanted, found), ANOTHER_SUCCESS)
    return INTERNAL_ERROR if is_server_fault(found) else STATUS_CAUSES.get((wanted, found))


def _guid_cause(request: SentRequest, response: ReceivedResponse, *, is_hspe_go: bool) -> Cause | None:
    """The cause of a successful response that is not a GUID as a JSON string."""
    if response.body.lstrip().startswith(b"{"):
        return dialect_cause([HSPE_GO_DIALECT]) if is_hspe_go else OBJECT_FOR_GUID
    is_bare = BARE_GUID_DIALECT.read(response, request.target) != response
    return dialect_cause([BARE_GUID_DIALECT]) if is_bare else None


def _form_errors(request: SentRequest, response: ReceivedResponse, dialect: Dialect) -> Sequence[HttpDeviation]:
    """The deviations in form of a response that shows one game, or all of them."""
    parse = parse_games if operation_name(request.target) == "get_games" else parse_game
    return parse(response.body, dialect).errors
