"""Texts and equality of the errors."""

from croupier.core.errors import FoundKind, IllegalMove, Violation


def test_illegal_move_shows_found_and_allowed_moves() -> None:
    error = IllegalMove("CAL", ("CHK", "BET"))
    assert str(error) == "CAL is not allowed here; allowed: CHK, BET"
    assert (error.found, error.allowed) == ("CAL", ("CHK", "BET"))


def test_illegal_move_without_allowed_moves_shows_nothing() -> None:
    assert str(IllegalMove("CAL", ())) == "CAL is not allowed here; allowed: nothing"


def test_illegal_move_is_a_value_error_and_violation_is_not() -> None:
    assert isinstance(IllegalMove("CAL", ()), ValueError)
    assert not isinstance(Violation("x-1.1", "this", "that"), ValueError)


def test_violation_text_starts_with_its_clause() -> None:
    violation = Violation("kuhn-2.7", "'HELO'", "a code")
    assert str(violation) == "kuhn-2.7: found 'HELO'; allowed: a code"
    assert (violation.clause, violation.found, violation.allowed, violation.fatal) == (
        "kuhn-2.7",
        "'HELO'",
        "a code",
        False,
    )


def test_violations_with_the_same_content_are_equal() -> None:
    one = Violation("x-1.1", "this", "that")
    assert one == Violation("x-1.1", "this", "that")
    assert hash(one) == hash(Violation("x-1.1", "this", "that"))
    others = [
        Violation("x-1.2", "this", "that"),
        Violation("x-1.1", "those", "that"),
        Violation("x-1.1", "this", "those"),
        Violation("x-1.1", "this", "that", fatal=True),
        "x-1.1: found this; allowed: that",
    ]
    assert all(one != other for other in others)
    assert len({one, *others}) == 6


def test_a_replaced_violation_keeps_its_other_fields() -> None:
    fields = {"fatal": True, "kind": FoundKind.SILENCE, "wanted": (1,), "limit": 2, "about": "wealth", "code": "BET"}
    found = Violation("x-1.1", "this", "that", **fields).replace(clause="x-1.2")
    assert str(found) == "x-1.2: found this; allowed: that"
    assert {name: getattr(found, name) for name in fields} == fields
