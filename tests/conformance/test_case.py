"""Cases are selected by room, section and name; an unknown name is answered with similar ones."""

import pytest

from croupier.conformance.case import Case, select

CASES = [
    Case(clause=clause, slug=slug, title=slug)
    for clause, slug in (
        ("kuhn-4.1", "deal"),
        ("kuhn-4.10", "next-game"),
        ("kuhn-4.1", "deal-again"),
        ("kuhn-6.1", "wrong-action"),
    )
]


def chosen(selection: str) -> list[str]:
    return [case.id for case in select(CASES, selection)]


def test_a_case_knows_its_room_and_its_section() -> None:
    assert (CASES[1].id, CASES[1].room, CASES[1].section) == ("kuhn/4.10/next-game", "kuhn", "4.10")


def test_a_selection_is_a_room_a_section_a_clause_or_a_case() -> None:
    assert chosen("kuhn") == [case.id for case in CASES]
    assert chosen("kuhn/4") == ["kuhn/4.1/deal", "kuhn/4.10/next-game", "kuhn/4.1/deal-again"]
    assert chosen("kuhn/4.1") == ["kuhn/4.1/deal", "kuhn/4.1/deal-again"], "4.10 is another clause"
    assert chosen("kuhn/4.1/deal") == ["kuhn/4.1/deal"]


@pytest.mark.parametrize(
    ("selection", "near"),
    [
        ("kuhn/4.1/dael", "kuhn/4.1/deal"),
        ("khun", "kuhn"),
        ("kuhn/9", "kuhn"),
        ("kuhn/4.2", "kuhn/4.1"),
        ("chess", "kuhn"),
    ],
)
def test_what_is_not_there_is_answered_with_what_is_near(selection: str, near: str) -> None:
    with pytest.raises(ValueError, match=f"found '{selection}'; allowed: .*{near}"):
        select(CASES, selection)
