"""What players may have after an observed hand: who wins each pot, and who gets the odd chips."""

from collections.abc import Sequence

import pytest

from croupier.rooms.holdem.cards import CARD_NUMBERS
from croupier.rooms.holdem.engine.stakes import STAKES
from croupier.rooms.holdem.observed.final_stacks import FinalStacks
from croupier.rooms.holdem.observed.hand import ObservedAction, ObservedHand

PLAYERS = ("button", "small", "big", "first")
ROYAL_BOARD = "AS KS QS JS TS"
QUEENS_BOARD = "QS QD 7C 5H 2D"
ACES_BOARD = "AS AD 7C 5H 2D"


def observed_hand(board: str, stacks: Sequence[int], actions: Sequence[ObservedAction]) -> ObservedHand:
    """Return a hand with these actions; the button has an ace and a 3."""
    observed = ObservedHand(PLAYERS, stacks, 0, STAKES)
    observed.board = [CARD_NUMBERS[card] for card in board.split()]
    holes = (("AH", "3C"), ("AC", "4C"), ("KC", "KD"), ("9C", "9D"))
    observed.holes = {
        player: tuple(CARD_NUMBERS[card] for card in hole) for player, hole in zip(PLAYERS, holes, strict=True)
    }
    observed.actions = [*actions]
    observed.update()
    return observed


def checked_down(board: str, stacks: Sequence[int] = (1000,) * 4) -> ObservedHand:
    """Return a hand with a pot of 140: the big blind has folded 20, and the others have bet 40 each."""
    actions: list[ObservedAction] = [("bet", 3, 40), ("bet", 0, 40), ("bet", 1, 30), ("fold", 2, 0)]
    actions += [("bet", seat, 0) for _ in range(3) for seat in (1, 3, 0) if stacks[seat] > 40]
    return observed_hand(board, stacks, actions)


def stacks_with(button: int, small: int, first: int) -> dict[str, int]:
    """The stacks of the players who have bet 40, from what they have won."""
    return {"button": 960 + button, "small": 960 + small, "big": 980, "first": 960 + first}


@pytest.mark.parametrize(("small", "first"), [(48, 46), (47, 47)])
def test_odd_chips_go_to_the_first_winner_or_one_each(small: int, first: int) -> None:
    assert FinalStacks(checked_down(ROYAL_BOARD)).check(stacks_with(46, small, first)) is None


@pytest.mark.parametrize(
    ("board", "found", "clause"),
    [
        (ROYAL_BOARD, stacks_with(48, 46, 46), "holdem-6.15"),
        (ROYAL_BOARD, stacks_with(140, 0, 0), "holdem-6.15"),
        (QUEENS_BOARD, stacks_with(140, 0, 0), "holdem-6.14"),
        (QUEENS_BOARD, stacks_with(0, 70, 70), "holdem-6.14"),
        (QUEENS_BOARD, stacks_with(100, 0, 40), "holdem-6.14"),
    ],
)
def test_a_wrong_result_has_the_clause_of_its_winners(board: str, found: dict[str, int], clause: str) -> None:
    violation = FinalStacks(checked_down(board)).check(found)
    assert violation is not None
    assert violation.clause == clause


def test_odd_chips_of_the_wrong_winner_are_found_beside_a_side_pot() -> None:
    actions: list[ObservedAction] = [("bet", 3, 40), ("bet", 0, 40), ("bet", 1, 30), ("fold", 2, 0)]
    actions += [("bet", 1, 20), ("bet", 0, 20), *(("bet", seat, 0) for _ in range(2) for seat in (1, 0))]
    result = FinalStacks(observed_hand(ROYAL_BOARD, (1000, 1000, 1000, 40), actions))
    assert result.check({"button": 1006, "small": 1008, "big": 980, "first": 46}) is None
    violation = result.check({"button": 1008, "small": 1006, "big": 980, "first": 46})
    assert violation is not None
    assert (result.clause, violation.clause) == ("holdem-6.12", "holdem-6.15")


def test_odd_chips_of_the_wrong_winner_are_found_without_the_board() -> None:
    actions: list[ObservedAction] = [("bet", 3, 41), ("bet", 0, 41), ("bet", 1, 31), ("fold", 2, 0)]
    result = FinalStacks(observed_hand("", (41, 41, 1000, 41), actions))
    assert result.check({"button": 71, "small": 72, "big": 980, "first": 0}) is None
    violation = result.check({"button": 72, "small": 71, "big": 980, "first": 0})
    assert violation is not None
    assert violation.clause == "holdem-6.15"


def test_a_wrong_winner_is_described_with_the_cards() -> None:
    violation = FinalStacks(checked_down(QUEENS_BOARD)).check(stacks_with(140, 0, 0))
    assert violation is not None
    assert violation.allowed == (
        "button with 960, small with 960, big with 980, first with 1100; "
        "button has AH 3C, small has AC 4C, first has 9C 9D, and the board is QS QD 7C 5H 2D"
    )


def test_stacks_of_the_beginning_are_described() -> None:
    violation = FinalStacks(checked_down(QUEENS_BOARD)).check_total(dict.fromkeys(PLAYERS, 1000), 1000)
    assert violation is not None
    assert violation.found == "1000 chips for every player, as before the first hand"
    assert violation.allowed == (
        "the stacks after the hand: button with 960, small with 960, big with 980, first with 1100"
    )


def test_lost_chips_of_the_last_player_are_no_new_stack() -> None:
    observed = observed_hand("", (1000,) * 4, [("leave", 3, 0), ("leave", 0, 0), ("leave", 1, 0)])
    observed.left_players |= {"first", "button", "small"}
    violation = FinalStacks(observed).check_total({"big": 1000}, 1000)
    assert violation is not None
    assert (violation.clause, violation.allowed) == ("holdem-5.17", "1010, as before")


@pytest.mark.parametrize(
    ("button", "first", "clause"),
    [(230, 900, ""), (430, 700, "holdem-6.11"), (330, 800, "holdem-6.14"), (0, 1130, "holdem-6.14")],
)
def test_a_bet_that_no_player_can_call_is_returned(button: int, first: int, clause: str) -> None:
    actions = [("bet", 3, 300), ("bet", 0, 100), ("fold", 1, 0), ("fold", 2, 0)]
    final_stacks = FinalStacks(observed_hand(ACES_BOARD, (100, 1000, 1000, 1000), actions))
    violation = final_stacks.check({"button": button, "small": 990, "big": 980, "first": first})
    assert (violation.clause if violation else "") == clause
    assert final_stacks.has_returned_bet


def test_the_best_hand_wins() -> None:
    final_stacks = FinalStacks(checked_down(QUEENS_BOARD))
    assert final_stacks.check(stacks_with(0, 0, 140)) is None
    assert final_stacks.check_total(stacks_with(0, 0, 140), 1000) is None


def test_a_broke_player_with_a_new_stack_has_not_left() -> None:
    final_stacks = FinalStacks(checked_down(QUEENS_BOARD, (40, 1000, 1000, 1000)))
    found = stacks_with(0, 0, 140) | {"button": 5000}
    violation = final_stacks.check_total(found, 5000)
    assert violation is not None
    assert violation.clause == "holdem-3.13"


def test_new_stacks_for_every_hand_are_found() -> None:
    found = dict.fromkeys(PLAYERS, 1000)
    violation = FinalStacks(checked_down(QUEENS_BOARD)).check_total(found, 1000)
    assert violation is not None
    assert violation.clause == "holdem-3.1"


def test_a_pot_that_is_shared_with_a_player_who_has_folded_is_not_taken_for_new_stacks() -> None:
    actions: list[ObservedAction] = [("bet", 3, 40), ("bet", 0, 40), ("bet", 1, 30), ("bet", 2, 20), ("fold", 1, 0)]
    actions += [("bet", seat, 0) for seat in (2, 3, 0)]
    actions += [("bet", seat, 0) for _ in range(2) for seat in (2, 3, 0)]
    final_stacks = FinalStacks(observed_hand(ROYAL_BOARD, (1000,) * 4, actions))
    found = dict.fromkeys(PLAYERS, 1000)
    assert final_stacks.check_total(found, 1000) is None
    violation = final_stacks.check(found)
    assert violation is not None
    assert violation.clause == "holdem-6.15"
