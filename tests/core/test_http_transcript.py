"""HTTP transcripts: parsing of requests and responses, binding of names, and mismatches."""

import re
from collections import deque
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.json import encode

from croupier.core.http_transcript import (
    ExpectedResponse,
    Mismatch,
    TranscriptRequest,
    TranscriptResponse,
    match_response,
    parse_expected_response,
    parse_request,
    substitute,
)
from croupier.core.transcript import TranscriptLine, parse_transcript
from tests.transcript_drivers import play_http_transcript

WORDS = st.text(st.characters(codec="utf-8", exclude_characters="$"))
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner),
    max_leaves=8,
)


def response(body: object, status: int = 200, **headers: str) -> TranscriptResponse:
    return TranscriptResponse(status, headers, body if isinstance(body, bytes) else encode(body))


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("GET /games/", TranscriptRequest("GET", "/games/")),
        ('POST /a/ {"action": 1}', TranscriptRequest("POST", "/a/", (), b'{"action": 1}')),
        ("POST /a/ 'text'", TranscriptRequest("POST", "/a/", (), b"text")),
        (r"POST /a/ '{\xff\x00'", TranscriptRequest("POST", "/a/", (), b"{\xff\x00")),
        ("POST /a/ 'ab' * 3", TranscriptRequest("POST", "/a/", (), b"ababab")),
        ("POST /a/ ''", TranscriptRequest("POST", "/a/")),
        ("GET /a [If-None-Match: W/1]", TranscriptRequest("GET", "/a", (("If-None-Match", "W/1"),))),
        ("POST /a [A: b c] [D-E:] [1, 2]", TranscriptRequest("POST", "/a", (("A", "b c"), ("D-E", "")), b"[1, 2]")),
    ],
)
def test_request_has_method_path_headers_and_body(text: str, found: TranscriptRequest) -> None:
    assert parse_request(text, {}) == found


def test_names_in_a_request_are_substituted() -> None:
    bound = {"game": "g-1", "tag": '"v"'}
    assert parse_request('POST /games/$game/x [If-Match: $tag] {"id": "$game"}', bound) == TranscriptRequest(
        "POST", "/games/g-1/x", (("If-Match", '"v"'),), b'{"id": "g-1"}'
    )


@pytest.mark.parametrize("text", ["", "GET", "get /games/", "GET games/", "GET /a nonsense", "POST /a {'a': 1}"])
def test_invalid_request_raises_value_error(text: str) -> None:
    with pytest.raises(ValueError, match=r"found .*; allowed"):
        parse_request(text, {})


@pytest.mark.parametrize(("bound", "allowed"), [({}, "no name yet"), ({"a": "1", "b": "2"}, r"\$a, \$b")])
def test_unbound_name_in_a_request_raises_value_error(bound: dict[str, str], allowed: str) -> None:
    with pytest.raises(ValueError, match=rf"found \$game; allowed: {allowed}"):
        substitute("/games/$game", bound)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("200", ExpectedResponse(200)),
        ("201 empty", ExpectedResponse(201, (), "empty")),
        ("401 [WWW-Authenticate: Basic *]", ExpectedResponse(401, (("WWW-Authenticate", "Basic *"),))),
        ('200 [A: b] [C:] ["x", 1]', ExpectedResponse(200, (("A", "b"), ("C", "")), '["x", 1]')),
        ("404 'found *'", ExpectedResponse(404, (), "'found *'")),
    ],
)
def test_expected_response_has_status_headers_and_body(text: str, found: ExpectedResponse) -> None:
    assert parse_expected_response(text) == found


@pytest.mark.parametrize("text", ["", "OK", "999", "200 nonsense", '200 {"a": }', "200 'open"])
def test_invalid_response_raises_value_error(text: str) -> None:
    with pytest.raises(ValueError, match=r"found .*; allowed"):
        parse_expected_response(text)


@given(JSON)
def test_every_json_body_matches_itself(body: object) -> None:
    assert match_response(parse_expected_response(f"200 {encode(body).decode()}"), response(body), {}) == {}


@pytest.mark.parametrize(
    ("expected", "received", "place"),
    [
        ("1", 2, "the body: 2, not 1"),
        ("1", 1.0, "the body: 1.0, not 1"),
        ("1", True, "the body: True, not 1"),
        ("0", False, "the body: False, not 0"),
        ("null", [], r"the body: \[\], not None"),
        ("[]", {}, "the body: {}, not"),
        ('"a"', "b", "the body: 'b', not 'a'"),
        ('{"a": {"b": [1, 2]}}', {"a": {"b": [1, 3]}}, r"the body\.a\.b\[1\]: 3, not 2"),
        ("[1]", [1, 2], "the body: 2 elements"),
        ('{"a": 1, "b": 2}', {"b": 2, "a": 1}, r"the body: the keys \['b', 'a'\], not \['a', 'b'\]"),
        ('{"a": 1}', {"a": 1, "b": 2}, r"the body: the keys \['a', 'b'\], not \['a'\]"),
        ('"$known"', "other", r"the body: 'other', not 'it' \(\$known\)"),
        ('"$new"', 7, r"the body: 7, not 'a string' \(\$new\)"),
        ('["$new", "$new"]', ["a", "b"], r"the body\[1\]: 'b', not 'a'"),
        ("1", b"", "no JSON"),
        ("1", b"\xff", "no JSON"),
        ("empty", b"x", "not empty"),
        ("'found *'", b"lost", "the body: 'lost', not 'found \\*'"),
    ],
)
def test_body_mismatch_names_the_place(expected: str, received: object, place: str) -> None:
    with pytest.raises(Mismatch, match=place):
        match_response(parse_expected_response(f"200 {expected}"), response(received), {"known": "it"})


@pytest.mark.parametrize("received", [None, 1, "x", [], {"a": [1]}])
def test_wildcard_matches_any_json(received: object) -> None:
    assert (
        match_response(parse_expected_response('200 {"a": "$_", "b": "$_"}'), response({"a": received, "b": 2}), {})
        == {}
    )


def test_status_alone_leaves_the_body_unchecked() -> None:
    assert match_response(parse_expected_response("200"), response(b"\xff anything"), {}) == {}
    with pytest.raises(Mismatch, match=r"the status is 404 \(b'no'\), not 200"):
        match_response(parse_expected_response("200"), response(b"no", 404), {})


def test_names_are_bound_by_the_first_response_and_checked_in_the_next() -> None:
    bound = match_response(
        parse_expected_response('200 [ETag: $tag] {"id": "$game"}'), response({"id": "g"}, etag='"1"'), {}
    )
    assert bound == {"tag": '"1"', "game": "g"}
    assert (
        match_response(
            parse_expected_response('200 [Location: /games/$game] "$game"'), response("g", location="/games/g"), bound
        )
        == bound
    )
    with pytest.raises(Mismatch, match="Location"):
        match_response(
            parse_expected_response("200 [Location: /games/$game]"), response(b"", location="/games/h"), bound
        )


def test_name_may_occur_twice_in_one_text() -> None:
    assert match_response(parse_expected_response("200 '$a and $a'"), response(b"x and x"), {}) == {"a": "x"}
    assert match_response(parse_expected_response("200 '$_ and $1'"), response(b"x and $1"), {}) == {}
    with pytest.raises(Mismatch):
        match_response(parse_expected_response("200 '$a and $a'"), response(b"x and y"), {})


@pytest.mark.parametrize(
    ("expected", "headers", "message"),
    [
        ("[Allow: GET]", {}, "there is no Allow; there are no headers"),
        ("[Allow: GET]", {"etag": "x"}, "there is no Allow; there are etag"),
        ("[Allow: GET]", {"allow": "GET, HEAD"}, "Allow: 'GET, HEAD', not 'GET'"),
        ("[Retry-After:]", {"retry-after": "3"}, "there is Retry-After: 3, which should be missing"),
    ],
)
def test_header_mismatch_is_reported(expected: str, headers: dict[str, str], message: str) -> None:
    with pytest.raises(Mismatch, match=message):
        match_response(parse_expected_response(f"405 {expected}"), response(b"", 405, **headers), {})


def test_unmentioned_headers_are_ignored() -> None:
    assert match_response(parse_expected_response("200 [B: *] [C:]"), response(b"", a="1", b="2"), {}) == {}


class RecordingDriver:
    """A driver that responds from a list and records what is requested and performed."""

    def __init__(self, *answers: TranscriptResponse) -> None:
        self.answers = deque(answers)
        self.past: list[object] = []

    def send(self, user: str, request: TranscriptRequest) -> None:
        self.past.append((user, request))

    def receive(self, user: str) -> TranscriptResponse:
        return self.answers.popleft()

    def perform(self, line: TranscriptLine) -> None:
        self.past.append(line.text)

    def finish(self) -> None:
        self.past.append("quiet")


HEAD = "title: A title\nclause: holdem-1.1\n"


def test_transcript_is_played_line_by_line() -> None:
    sample = parse_transcript(
        HEAD + 'a> POST /users/\na< 201\n  "$a"\n* 3 seconds pass\nb> GET /users/$a\nb< 404\n', "sample"
    )
    driver = RecordingDriver(response("g", 201), response(b"", 404))
    play_http_transcript(sample, driver)
    assert driver.past == [
        ("a", TranscriptRequest("POST", "/users/")),
        "3",
        ("b", TranscriptRequest("GET", "/users/g")),
        "quiet",
    ]


def test_mismatch_is_reported_with_its_line() -> None:
    with pytest.raises(AssertionError, match=r"^sample, line 4: the status is 403"):
        play_http_transcript(
            parse_transcript(HEAD + "a> POST /users/\na< 201\n", "sample"), RecordingDriver(response(b"", 403))
        )


def test_invalid_line_is_reported_with_its_number() -> None:
    with pytest.raises(ValueError, match=r"^sample, line 3: found 'STRT P_1'; allowed: METHOD"):
        play_http_transcript(parse_transcript(HEAD + "a> STRT P_1\n", "sample"), RecordingDriver())


@given(st.text(max_size=60))
def test_any_text_is_parsed_or_raises_value_error(text: str) -> None:
    for parse in (lambda: parse_request(text, {}), lambda: parse_expected_response(text)):
        message = "found and allowed"
        try:
            parse()
        except ValueError as error:
            message = str(error)
        assert "found" in message
        assert "allowed" in message


@given(st.text(max_size=40), st.binary(max_size=20))
def test_no_response_breaks_the_comparison(text: str, body: bytes) -> None:
    with suppress(ValueError):
        expected = parse_expected_response(f"200 {text}")
        with suppress(Mismatch):
            assert match_response(expected, response(body), {}).keys() <= {*re.findall(r"\$([a-z_0-9]+)", text)}
