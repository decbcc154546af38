"""Transcripts: parsing, binding of patterns, and mismatches."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from croupier.core.transcript import TranscriptLine, encode_line, parse_transcript
from croupier.replay.transcript_house import compile_pattern, make_harness
from croupier.rooms import HOUSE_ROOMS
from tests.transcript_drivers import play_transcript

KUHN = HOUSE_ROOMS["kuhn"]
HEAD = "title: A title\nclause: kuhn-4.1 kuhn-4.2\n"
CARDS = {"card": b"C_[JQK]", "action": b"CHK|BET|FLD"}


def perform(body: str, head: str = "deck: Q K J\nhouse: CAL\n") -> None:
    play_transcript(
        parse_transcript(HEAD + head + body, "sample"),
        make_harness(KUHN, parse_transcript(HEAD + head + body, "sample")),
        KUHN.patterns,
    )


def test_transcript_has_a_head_and_a_body() -> None:
    sample = parse_transcript(
        HEAD + "deck: Q K\n\n# some\np> STRT P_1\np< CARD {card}\n* 2.5 seconds pass\n* left p\n", "sample"
    )
    assert (sample.name, sample.title, sample.clauses) == ("sample", "A title", ("kuhn-4.1", "kuhn-4.2"))
    assert sample.head["deck"] == "Q K"
    assert sample.lines == (
        TranscriptLine(6, ">", "p", "STRT P_1"),
        TranscriptLine(7, "<", "p", "CARD {card}"),
        TranscriptLine(8, "pass", "", "2.5"),
        TranscriptLine(9, "left", "p", ""),
    )


@pytest.mark.parametrize(
    ("text_line", "line"),
    [
        ("* dropped p", TranscriptLine(3, "dropped", "p")),
        ("* settled p -2", TranscriptLine(3, "settled", "p", "-2")),
        ("* settled ann +1", TranscriptLine(3, "settled", "ann", "+1")),
        ("* settled p ?", TranscriptLine(3, "settled", "p", "?")),
        ("* 1 second pass", TranscriptLine(3, "pass", "", "1")),
        ("* halted", TranscriptLine(3, "halted", "", "")),
        ("* halted for good", TranscriptLine(3, "halted", "", " for good")),
        ("p>  BET", TranscriptLine(3, ">", "p", " BET")),
        ("p>", TranscriptLine(3, ">", "p", "")),
    ],
)
def test_every_kind_of_line_is_parsed(text_line: str, line: TranscriptLine) -> None:
    assert parse_transcript(HEAD + text_line, "sample").lines == (line,)


def test_line_that_starts_with_white_space_continues_the_line_above() -> None:
    sample = parse_transcript(
        HEAD + "deck: Q\n  K J\n\np> STRT\n    P_1\n\n# in between\n\tand more\np< CARD\n", "sample"
    )
    assert sample.head["deck"] == "Q K J"
    assert sample.lines == (TranscriptLine(6, ">", "p", "STRT P_1 and more"), TranscriptLine(11, "<", "p", "CARD"))


def test_first_line_cannot_be_a_continuation() -> None:
    with pytest.raises(ValueError, match="sample, line 1: found '  title: x'; allowed: 'p> …', 'p< …' or an action"):
        parse_transcript("  title: x\nclause: y\np> x\n", "sample")


@pytest.mark.parametrize(
    "text_line", ["STRT P_1", "p STRT", "* danced p", "* settled p two", "* five seconds pass", "p>> x y*"[:1]]
)
def test_invalid_line_is_reported_with_its_number(text_line: str) -> None:
    with pytest.raises(ValueError, match="allowed: 'p> …', 'p< …' or an action") as refusal:
        parse_transcript(f"{HEAD}p> x\n{text_line}\n", "sample")
    assert f"sample, line 4: found {text_line!r}" in str(refusal.value)


@pytest.mark.parametrize(
    ("text", "missing"),
    [("", "clause and no title"), ("title: x\np> x\n", "clause"), ("clause: x\np> x\n", "title"), (HEAD, "lines")],
)
def test_missing_parts_are_reported(text: str, missing: str) -> None:
    with pytest.raises(ValueError, match=f"sample: found no {missing}; allowed: a head and a body"):
        parse_transcript(text, "sample")


@given(st.text(max_size=80))
def test_any_text_is_parsed_or_raises_value_error(text: str) -> None:
    try:
        found = parse_transcript(HEAD + text, "sample")
    except ValueError as error:
        message = str(error)
    else:
        message = "found and allowed"
        assert found.lines
    assert "found" in message
    assert "allowed" in message


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("STRT P_1", b"STRT P_1"),
        ("a{lf}b{cr}{sp}", b"a\nb\r "),
        ("{hex:00ff}", b"\x00\xff"),
        ("BET{int32:-2}", b"BET\xff\xff\xff\xfe"),
        ("{char16:T}", b"\x00T"),
        ("é", b"\xe9"),
        ("", b""),
    ],
)
def test_braces_stand_for_bytes(text: str, found: bytes) -> None:
    assert encode_line(text) == found


def test_sent_line_cannot_have_a_pattern() -> None:
    with pytest.raises(ValueError, match=r"found the pattern \{card\}; allowed: bytes"):
        encode_line("CARD {card}")


@pytest.mark.parametrize(
    "text", ["{foo:1}", "{hex:zz}", "{int32:99999999999}", "{char16:TT}", "{lf", "lf}", "ž"], ids=lambda text: text[:8]
)
def test_invalid_bytes_raise_value_error(text: str) -> None:
    with pytest.raises(ValueError, match=r"found .*; allowed"):
        encode_line(text)


def test_unknown_pattern_raises_value_error() -> None:
    with pytest.raises(ValueError, match=r"found .*; allowed"):
        compile_pattern("CARD {kard}", CARDS, {})


def test_pattern_binds_random_bytes() -> None:
    match = compile_pattern("CARD {card}", CARDS, {}).match(b"CARD C_Q")
    assert match is not None
    assert match.groupdict() == {"card": b"C_Q"}
    bound = compile_pattern("CARD {card}", CARDS, {"card": b"C_Q"})
    assert bound.match(b"CARD C_Q")
    assert not bound.match(b"CARD C_K")


def test_numbered_patterns_are_bound_independently() -> None:
    match = compile_pattern("CARD {card1}CARD {card2}", CARDS, {}).match(b"CARD C_QCARD C_K")
    assert match is not None
    assert match.groupdict() == {"card1": b"C_Q", "card2": b"C_K"}


def test_pattern_with_alternatives_does_not_extend_beyond_its_braces() -> None:
    found = compile_pattern("ACTN {action}!", CARDS, {})
    assert found.match(b"ACTN BET!")
    assert not found.match(b"ACTN CHK")


@given(st.text(st.characters(codec="latin-1", exclude_characters="{}")))
def test_text_without_braces_matches_itself(text: str) -> None:
    assert compile_pattern(text, {}, {}).fullmatch(encode_line(text))


def test_matching_transcript_is_played_without_errors() -> None:
    perform("p> STRT P_1\np< CARD C_Q\np> ACTN BET\np< CARD C_K\n* settled p -2\n")


@pytest.mark.parametrize(
    ("body", "line", "message"),
    [
        ("p> STRT P_1\np< CARD C_K\n", 6, "p receives b'CARD C_Q'"),
        ("p> STRT P_1\np< CARD {card}\np> ACTN BET\np< CARD {card}\n", 8, "p receives b'CARD C_K'"),
        ("p> STRT P_1\np< CARD C_Q\n* dropped p\n", 7, "dropped"),
        ("p> STRT P_1\np< CARD C_Q\np> ACTN BET\np< CARD C_K\n* settled p +2\n", 9, "settled"),
        ("p> DISC\n* settled p ?\n", 6, "settled"),
    ],
)
def test_mismatch_is_reported_with_its_line(body: str, line: int, message: str) -> None:
    with pytest.raises(AssertionError, match=f"^sample, line {line}: ") as failure:
        perform(body)
    assert message in str(failure.value)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("p> STRT P_1\n", "p also receives b'CARD C_Q'"),
        ("p> STRT P_1\np< CARD C_Q\np> ACTN BET\np< CARD C_K\n", "also happened"),
        ("p> DISC\n", "also happened"),
    ],
)
def test_unexpected_output_is_reported_at_the_end(body: str, message: str) -> None:
    with pytest.raises(AssertionError) as failure:
        perform(body)
    assert message in str(failure.value)


def test_head_configures_the_house() -> None:
    perform("p> STRT P_1\np< FAIL N_C\n", "coins: 0\n")
    perform('p> STRT "P_\np< FAIL W_A\n', "strict: yes\n")
    perform(
        "p> STRT P_1\np< CARD C_Q\n* 3 seconds pass\np< DISC\n* dropped p\n* settled p -1\n", "deck: Q K\nmove: 3\n"
    )
    perform(
        "p> STRT P_1\np< CARD C_Q\n* 3 seconds pass\np< DISC\n* dropped p\n* settled p -1\n", "deck: Q K\nidle: 3\n"
    )


def test_decks_are_dealt_in_turn() -> None:
    game = "p> STRT P_1\np< CARD C_{}\np> ACTN CHK\np< CARD C_{}\n* settled p ?\n"
    perform("".join(game.format(*cards) for cards in ("QK", "KJ", "QK")), "deck: Q K / K J\nhouse: CHK\n")
