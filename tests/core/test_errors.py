"""The errors: what was found, and then what was allowed."""

from croupier.core.errors import IllegalMove, Violation


def test_an_illegal_move_tells_what_was_found_and_what_was_allowed() -> None:
    error = IllegalMove("CAL", ("CHK", "BET"))
    assert str(error) == "CAL is not allowed here; allowed: CHK, BET"
    assert (error.found, error.allowed) == ("CAL", ("CHK", "BET"))


def test_where_nothing_is_allowed_it_says_so() -> None:
    assert str(IllegalMove("CAL", ())) == "CAL is not allowed here; allowed: nothing"


def test_an_illegal_move_is_a_value_error_and_a_violation_is_not() -> None:
    assert isinstance(IllegalMove("CAL", ()), ValueError)
    assert not isinstance(Violation("x-1.1", "this", "that"), ValueError)


def test_a_violation_tells_its_clause_first() -> None:
    violation = Violation("kuhn-2.7", "'HELO'", "a code")
    assert str(violation) == "kuhn-2.7: found 'HELO'; allowed: a code"
    assert (violation.clause, violation.found, violation.allowed, violation.fatal) == (
        "kuhn-2.7",
        "'HELO'",
        "a code",
        False,
    )


def test_violations_are_equal_when_they_say_the_same() -> None:
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
