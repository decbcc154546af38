"""Conversations on paper: how they are read, what their patterns bind, and what happens when they do not come true."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from croupier.core.transcript import (
    TranscriptLine,
    compile_pattern,
    encode_line,
    make_harness,
    parse_transcript,
    play_transcript,
)
from croupier.rooms import HOUSE_ROOMS

KUHN = HOUSE_ROOMS["kuhn"]
HEAD = "title: A title\nclause: kuhn-4.1 kuhn-4.2\n"
CARDS = {"card": b"C_[JQK]", "action": b"CHK|BET|FLD"}


def perform(body: str, head: str = "deck: Q K J\nhouse: CAL\n") -> None:
    play_transcript(
        parse_transcript(HEAD + head + body, "paper"),
        make_harness(KUHN, parse_transcript(HEAD + head + body, "paper")),
        KUHN.patterns,
    )


def test_a_transcript_is_a_head_and_a_body() -> None:
    paper = parse_transcript(
        HEAD + "deck: Q K\n\n# some\np> STRT P_1\np< CARD {card}\n* 2.5 seconds pass\n* left p\n", "paper"
    )
    assert (paper.name, paper.title, paper.clauses) == ("paper", "A title", ("kuhn-4.1", "kuhn-4.2"))
    assert paper.head["deck"] == "Q K"
    assert paper.lines == (
        TranscriptLine(6, ">", "p", "STRT P_1"),
        TranscriptLine(7, "<", "p", "CARD {card}"),
        TranscriptLine(8, "pass", "", "2.5"),
        TranscriptLine(9, "left", "p", ""),
    )


@pytest.mark.parametrize(
    ("written", "line"),
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
def test_every_kind_of_line_is_understood(written: str, line: TranscriptLine) -> None:
    assert parse_transcript(HEAD + written, "paper").lines == (line,)


def test_a_line_that_begins_with_white_space_continues_the_line_above() -> None:
    paper = parse_transcript(
        HEAD + "deck: Q\n  K J\n\np> STRT\n    P_1\n\n# in between\n\tand more\np< CARD\n", "paper"
    )
    assert paper.head["deck"] == "Q K J"
    assert paper.lines == (TranscriptLine(6, ">", "p", "STRT P_1 and more"), TranscriptLine(11, "<", "p", "CARD"))


def test_a_first_line_has_none_above_that_it_could_continue() -> None:
    with pytest.raises(ValueError, match="paper, line 1: found '  title: x'; allowed: 'p> …', 'p< …' or a deed"):
        parse_transcript("  title: x\nclause: y\np> x\n", "paper")


@pytest.mark.parametrize(
    "written", ["STRT P_1", "p STRT", "* danced p", "* settled p two", "* five seconds pass", "p>> x y*"[:1]]
)
def test_a_line_that_is_none_is_refused_with_its_number(written: str) -> None:
    with pytest.raises(ValueError, match="allowed: 'p> …', 'p< …' or a deed") as refusal:
        parse_transcript(f"{HEAD}p> x\n{written}\n", "paper")
    assert f"paper, line 4: found {written!r}" in str(refusal.value)


@pytest.mark.parametrize(
    ("text", "missing"),
    [("", "clause and no title"), ("title: x\np> x\n", "clause"), ("clause: x\np> x\n", "title"), (HEAD, "lines")],
)
def test_a_transcript_without_its_parts_is_refused_with_what_is_missing(text: str, missing: str) -> None:
    with pytest.raises(ValueError, match=f"paper: found no {missing}; allowed: a head and a body"):
        parse_transcript(text, "paper")


@given(st.text(max_size=80))
def test_any_text_is_a_transcript_or_a_value_error(text: str) -> None:
    try:
        found = parse_transcript(HEAD + text, "paper")
    except ValueError as error:
        told = str(error)
    else:
        told = "found and allowed"
        assert found.lines
    assert "found" in told
    assert "allowed" in told


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
def test_what_is_in_braces_stands_for_bytes(text: str, found: bytes) -> None:
    assert encode_line(text) == found


def test_what_is_said_cannot_be_left_to_luck() -> None:
    with pytest.raises(ValueError, match=r"found the pattern \{card\}; allowed: bytes"):
        encode_line("CARD {card}")


@pytest.mark.parametrize(
    "text", ["{foo:1}", "{hex:zz}", "{int32:99999999999}", "{char16:TT}", "{lf", "lf}", "ž"], ids=lambda text: text[:8]
)
def test_bytes_that_cannot_be_are_refused_with_what_was_found_and_allowed(text: str) -> None:
    with pytest.raises(ValueError, match=r"found .*; allowed"):
        encode_line(text)


def test_a_pattern_that_nobody_knows_is_refused_with_what_was_found_and_allowed() -> None:
    with pytest.raises(ValueError, match=r"found .*; allowed"):
        compile_pattern("CARD {kard}", CARDS, {})


def test_a_pattern_binds_what_luck_brought() -> None:
    match = compile_pattern("CARD {card}", CARDS, {}).match(b"CARD C_Q")
    assert match is not None
    assert match.groupdict() == {"card": b"C_Q"}
    bound = compile_pattern("CARD {card}", CARDS, {"card": b"C_Q"})
    assert bound.match(b"CARD C_Q")
    assert not bound.match(b"CARD C_K")


def test_patterns_with_numbers_are_luck_of_their_own() -> None:
    match = compile_pattern("CARD {card1}CARD {card2}", CARDS, {}).match(b"CARD C_QCARD C_K")
    assert match is not None
    assert match.groupdict() == {"card1": b"C_Q", "card2": b"C_K"}


def test_a_pattern_with_choices_keeps_to_its_braces() -> None:
    found = compile_pattern("ACTN {action}!", CARDS, {})
    assert found.match(b"ACTN BET!")
    assert not found.match(b"ACTN CHK")


@given(st.text(st.characters(codec="latin-1", exclude_characters="{}")))
def test_text_without_braces_matches_itself(text: str) -> None:
    assert compile_pattern(text, {}, {}).fullmatch(encode_line(text))


def test_a_true_transcript_is_performed_without_a_word() -> None:
    perform("p> STRT P_1\np< CARD C_Q\np> ACTN BET\np< CARD C_K\n* settled p -2\n")


@pytest.mark.parametrize(
    ("body", "line", "told"),
    [
        ("p> STRT P_1\np< CARD C_K\n", 6, "p hears b'CARD C_Q'"),
        ("p> STRT P_1\np< CARD {card}\np> ACTN BET\np< CARD {card}\n", 8, "p hears b'CARD C_K'"),
        ("p> STRT P_1\np< CARD C_Q\n* dropped p\n", 7, "dropped"),
        ("p> STRT P_1\np< CARD C_Q\np> ACTN BET\np< CARD C_K\n* settled p +2\n", 9, "settled"),
        ("p> DISC\n* settled p ?\n", 6, "settled"),
    ],
)
def test_a_transcript_that_does_not_come_true_is_told_with_its_line(body: str, line: int, told: str) -> None:
    with pytest.raises(AssertionError, match=f"^paper, line {line}: ") as failure:
        perform(body)
    assert told in str(failure.value)


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ("p> STRT P_1\n", "p also hears b'CARD C_Q'"),
        ("p> STRT P_1\np< CARD C_Q\np> ACTN BET\np< CARD C_K\n", "also happened"),
        ("p> DISC\n", "also happened"),
    ],
)
def test_what_was_not_asked_for_is_told_at_the_end(body: str, told: str) -> None:
    with pytest.raises(AssertionError) as failure:
        perform(body)
    assert told in str(failure.value)


def test_the_head_sets_the_house() -> None:
    perform("p> STRT P_1\np< FAIL N_C\n", "coins: 0\n")
    perform('p> STRT "P_\np< FAIL W_A\n', "strict: yes\n")
    perform(
        "p> STRT P_1\np< CARD C_Q\n* 3 seconds pass\np< DISC\n* dropped p\n* settled p -1\n", "deck: Q K\nmove: 3\n"
    )
    perform(
        "p> STRT P_1\np< CARD C_Q\n* 3 seconds pass\np< DISC\n* dropped p\n* settled p -1\n", "deck: Q K\nidle: 3\n"
    )


def test_decks_are_used_in_turn() -> None:
    game = "p> STRT P_1\np< CARD C_{}\np> ACTN CHK\np< CARD C_{}\n* settled p ?\n"
    perform("".join(game.format(*cards) for cards in ("QK", "KJ", "QK")), "deck: Q K / K J\nhouse: CHK\n")
