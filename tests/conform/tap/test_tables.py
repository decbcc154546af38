"""Tables are followed as far as it is certain what was asked of a house, and when."""

from random import Random

import pytest

from croupier.conform.overheard.tables import MOST, QUICK, Table, Tables, Traffic
from croupier.rooms.holdem.wire import BET, FOLD, Act, Acted, Game
from tests.rooms.holdem.parlour import Parlour

USERS = ("ann", "bob", "cat")


class Heard:
    """Three at a table that is followed from when nobody sat there."""

    def __init__(self, seed: int = 1, *users: str) -> None:
        self.parlour = Parlour(seed=seed)
        self.table = Table()
        self.saw(self.view())
        self.found: list[str] = []
        for user in users or USERS:
            self.parlour.join(user)
            self.table.joined(self.guid(user), 0.0, sure=True)

    def guid(self, user: str) -> str:
        return self.parlour.house.guid(user)

    def view(self, user: str | None = None) -> Game:
        return self.parlour.view(user)

    def saw(self, game: Game, user: str | None = None, now: float = 0.0, *, sure: bool = True) -> list[str]:
        found = self.table.saw(game, "" if user is None else self.guid(user), now, now, None, sure=sure)
        return [violation.clause for violation in found]

    def asks(self, user: str, action: int, chips: int = 0) -> tuple[Act, int]:
        """Ask to act: the act, and the status."""
        act = Act(user, self.view().game_id, self.guid(user), action, chips)
        self.table.untouched = False
        answer = self.parlour.ask(act)
        return act, 201 if isinstance(answer, Acted) else 403

    def acted(self, done: tuple[Act, int], now: float = 0.0, *, sure: bool = True) -> list[str]:
        return [violation.clause for violation in self.table.acted(*done, now, now, sure=sure)]


@pytest.mark.parametrize("seed", range(6))
def test_in_whatever_order_things_are_heard_nobody_is_accused(seed: int) -> None:
    heard, luck = Heard(seed), Random(seed)
    waiting: list[object] = []
    overtaken = 0
    heard.saw(heard.view(), sure=False)
    found: list[str] = []
    for _ in range(40):
        user = heard.parlour.turn()
        if not user:
            break
        turn = heard.view().turn
        fold = luck.random() < 0.4
        waiting.append(heard.asks(user, FOLD if fold else BET, 0 if fold else turn.bet_to_player - turn.bet_so_far))
        waiting += [heard.view()] * 2
        while len(waiting) > 3 or (waiting and luck.random() < 0.5):
            at = 0 if overtaken > 2 else luck.randrange(min(3, len(waiting)))
            overtaken = overtaken + 1 if at else 0
            one = waiting.pop(at)
            found += heard.saw(one, sure=False) if isinstance(one, Game) else heard.acted(one, sure=False)
    assert found == []
    assert heard.table.hands > 3


def test_what_is_certain_is_judged() -> None:
    heard = Heard()
    heard.saw(heard.view())
    before = heard.view()
    heard.acted(heard.asks(heard.parlour.turn(), FOLD))
    assert heard.saw(before) != []


def test_what_overlaps_or_comes_late_is_not_judged() -> None:
    for how in ({"sure": False}, {"now": QUICK}):
        heard = Heard()
        heard.saw(heard.view())
        before = heard.view()
        heard.acted(heard.asks(heard.parlour.turn(), FOLD))
        assert heard.saw(before, **how) == []


def test_who_runs_out_of_time_is_seen_to_have_left() -> None:
    heard = Heard()
    heard.saw(heard.view())
    heard.parlour.wait(16.0)
    assert heard.saw(heard.view(), now=16.0) == []
    assert heard.table.referee is not None
    assert heard.table.referee.turn() == heard.guid(heard.parlour.turn())


def test_a_table_at_which_a_stranger_plays_is_not_followed() -> None:
    heard = Heard(1, "ann", "bob")
    heard.saw(heard.view())
    heard.parlour.join("cat")
    heard.acted(heard.asks(heard.parlour.turn(), FOLD))
    assert heard.saw(heard.view()) == []
    assert heard.table.referee is None


def test_a_table_that_has_antes_is_not_followed() -> None:
    heard = Heard()
    heard.parlour = Parlour(ante=5)
    for user in USERS:
        heard.parlour.join(user)
    assert heard.saw(heard.view()) == []
    assert heard.table.referee is None


def test_what_is_played_for_is_taken_from_the_first_hand() -> None:
    heard = Heard()
    heard.parlour = Parlour(blinds="1/2", stack=200)
    for user in USERS:
        heard.parlour.join(user)
    assert heard.saw(heard.view()) == []
    assert heard.table.hands == 1


def test_only_what_nothing_overlaps_is_certain() -> None:
    traffic = Traffic()
    look = traffic.asks(change=False)
    assert traffic.answered(look, change=False)
    look, act = traffic.asks(change=False), traffic.asks(change=True)
    assert not traffic.answered(look, change=False)
    other = traffic.asks(change=False)
    assert traffic.answered(act, change=True)
    assert not traffic.answered(other, change=False)


def test_so_many_tables_are_known_and_no_more() -> None:
    tables = Tables()
    for number in range(MOST + 5):
        tables.table(f"{number}")
        tables.is_called(f"{number}", "guid")
    assert tables.guid("3") is None
    assert tables.guid(f"{MOST}") == "guid"
    assert len(tables._tables) == MOST
