"""What holds in a house of hold'em whoever comes, whatever he asks and whenever he goes."""

from typing import Any

import pytest
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from croupier.core.rules import Turn
from croupier.rooms.holdem.cards import CARDS
from croupier.rooms.holdem.table.seats import Participant
from croupier.rooms.holdem.table.table import Table
from croupier.rooms.holdem.wire import (
    ACTION_BET,
    ACTION_FOLD,
    MAX_AMOUNT,
    NO_TURN,
    PLAYER_LEFT,
    Act,
    ActDone,
    Created,
    Join,
    Leave,
    Open,
    Queued,
    RequestRefused,
)
from tests.rooms.holdem.house_fixture import Parlour

USERS = ("ann", "bob", "cat", "dan", "eve")

AMOUNTS = st.one_of(
    st.integers(-3, 130), st.sampled_from([0, 10, 20, 40, 100, 980, 990, 1000, 2000, MAX_AMOUNT, -MAX_AMOUNT])
)

users = st.sampled_from(USERS)
games = st.integers(0, 5)


class House(RuleBasedStateMachine):
    """Random evenings. Kept by hand: how many chips were brought to every table, and taken away from it."""

    @initialize(
        how=st.fixed_dictionaries(
            {"seats": st.integers(2, 4), "stack": st.sampled_from([64, 100, 1000]), "seed": st.integers(0, 9)},
            optional={
                "ante": st.just(3),
                "straddle": st.just(40),
                "pause_seconds": st.just(2.0),
                "dialect": st.just("hspe-go"),
                "history": st.integers(0, 2),
                "games": st.just(3),
            },
        )
    )
    def begin(self, how: dict[str, Any]) -> None:
        note(str(how))
        self.parlour = Parlour(**how)
        self.chips: dict[str, int] = {}
        self.seen: dict[tuple[str, str | None], Any] = {}
        self.versions = {table.guid: table.version for table in self.tables}
        self.known: list[Participant] = []
        self.closing = False

    @property
    def tables(self) -> tuple[Table, ...]:
        return tuple(self.parlour.house.games())

    def game(self, number: int) -> str:
        return self.tables[number % len(self.tables)].guid

    def sitters(self, table: Table) -> list[Participant]:
        return table._seats.seated_participants

    def wealth(self, table: Table, user: str) -> int:
        """What somebody would take away now."""
        shown = {player.handle: player.wealth for player in table.view().table}
        return shown.get(user, sum(one.chips for one in self.sitters(table) if one.user == user))

    def watch(self) -> dict[tuple[str, str], int]:
        """Before something happens: everybody's wealth."""
        return {(table.guid, user): self.wealth(table, user) for table in self.tables for user in USERS}

    def account(self, before: dict[tuple[str, str], int], *removed: tuple[str, str]) -> None:
        """After it: who has been seated has brought his chips, who has been removed has taken his away."""
        for game, user in removed:
            self.chips[game] -= before[game, user]
        for table in self.tables:
            for sitter in self.sitters(table):
                if sitter not in self.known:
                    self.known.append(sitter)
                    self.chips[table.guid] = self.chips.get(table.guid, 0) + self.parlour.settings.stack

    # What happens.

    @rule(user=users, number=games)
    def joins(self, user: str, number: int) -> None:
        game = self.game(number)
        table = self.parlour.table(game)
        before, free, there = self.watch(), table.has_free_seat, table.player_guid(user)
        answer = self.parlour.ask(Join(user, game))
        if there is not None:
            assert isinstance(answer, RequestRefused)
            assert answer.status == 409
        elif self.closing:
            assert isinstance(answer, RequestRefused)
            assert answer.status == 503
        else:
            assert isinstance(answer, Created if free else Queued)
        self.account(before)

    @precondition(lambda self: len(self.tables) < 5)
    @rule(user=users)
    def opens(self, user: str) -> None:
        before = self.watch()
        full = self.closing or len(self.tables) >= self.parlour.settings.games
        answer = self.parlour.ask(Open(user))
        assert isinstance(answer, RequestRefused if full else Created)
        self.account(before)

    @precondition(lambda self: not self.closing)
    @rule()
    def is_interrupted(self) -> None:
        self.parlour.interrupt()
        self.known = [sitter for table in self.tables for sitter in self.sitters(table)]

    @rule(user=users, number=games)
    def leaves(self, user: str, number: int) -> None:
        game = self.game(number)
        before, there = self.watch(), self.parlour.table(game).player_guid(user)
        answer = self.parlour.leave(user, game)
        if there is None:
            assert isinstance(answer, RequestRefused)
            assert answer.status == 404
            self.account(before)
        else:
            assert answer == PLAYER_LEFT
            self.account(before, *([(game, user)] if game in self.chips else []))

    def acts(self, user: str, game: str, action: int, chips: int) -> None:
        table = self.parlour.table(game)
        before, turn = self.watch(), self.parlour.turn(game)
        there = table.player_guid(user)
        hand = table._hand
        legal = action == ACTION_FOLD or (hand is not None and chips in hand.legal)
        answer = self.parlour.ask(Act(user, game, self.parlour.house.guid_of(user), action, chips))
        if there is None:
            assert isinstance(answer, RequestRefused)
            assert answer.status == 404
        elif turn != user:
            assert isinstance(answer, RequestRefused)
            assert answer.status == (409 if self.parlour.settings.dialect == "hspe-go" else 403)
        else:
            assert isinstance(answer, ActDone)
            assert (answer.reason == "") == legal
        self.account(before)

    @rule(user=users, number=games, action=st.sampled_from([ACTION_FOLD, ACTION_BET]), chips=AMOUNTS)
    def somebody_acts(self, user: str, number: int, action: int, chips: int) -> None:
        self.acts(user, self.game(number), action, chips)

    @rule(number=games, chips=AMOUNTS)
    def whoever_has_to_act_bets(self, number: int, chips: int) -> None:
        game = self.game(number)
        if turn := self.parlour.turn(game):
            self.acts(turn, game, ACTION_BET, chips)

    @rule(number=games, kind=st.sampled_from(["call", "call", "call", "least", "all", "fold"]))
    def whoever_has_to_act_acts_well(self, number: int, kind: str) -> None:
        game = self.game(number)
        if turn := self.parlour.turn(game):
            hand = self.parlour.table(game)._hand
            assert hand is not None
            legal = hand.legal
            low, high = legal.raise_range or (legal.call, legal.call)
            chips = {"call": legal.call, "least": low, "all": high, "fold": 0}[kind]
            self.acts(turn, game, ACTION_FOLD if kind == "fold" else ACTION_BET, chips)

    @rule(seconds=st.sampled_from([0.5, 1.9, 7.0, 15.0, 40.0]))
    def time_passes(self, seconds: float) -> None:
        until = self.parlour.now + seconds
        while (alarm := self.parlour.house.deadline) is not None and alarm <= until:
            before = self.watch()
            late = [
                (t.guid, self.parlour.turn(t.guid))
                for t in self.tables
                if t.deadline is not None and t.deadline <= alarm
            ]
            self.parlour.wait(alarm - self.parlour.now)
            self.account(before, *(one for one in late if one[1]))
        self.parlour.wait(until - self.parlour.now)

    @precondition(lambda self: len(self.parlour.nets) > 3)
    @rule(final=st.booleans())
    def closes(self, final: bool) -> None:
        self.closing = True
        for table in self.tables if final else ():
            hand = table._hand
            if hand is not None and hand.turn is not Turn.OVER:  # void: who has left it has his bets back, too
                gone = [seat for seat, sitter in enumerate(table._dealt_in) if sitter.chair is None]
                self.chips[table.guid] -= sum(hand.paid[seat] for seat in gone)
        self.parlour.halt(final=final)
        self.account({})

    # What holds.

    @invariant()
    def chips_are_neither_made_nor_lost(self) -> None:
        """holdem-5.17"""
        for table in self.tables:
            shown = table.view()
            listed = {player.handle for player in shown.table}
            assert len(listed) == len(shown.table)
            here = sum(player.wealth for player in shown.table) + sum(pot.size for pot in shown.pots)
            waiting = sum(one.chips for one in self.sitters(table) if one.user not in listed)
            assert here + waiting == self.chips.get(table.guid, 0)
            assert all(player.wealth >= 0 for player in shown.table)
        assert all(sum(nets) == 0 for nets in self.parlour.nets)

    @invariant()
    def it_is_the_turn_of_one_player_or_of_nobody(self) -> None:
        """holdem-5.9, holdem-5.10, holdem-5.12"""
        for table in self.tables:
            shown = table.view()
            active = [player for player in shown.table if player.state == "active"]
            if shown.turn == NO_TURN:
                assert table._hand is None or not active
                assert shown.pots[0].size == 0
                assert table._hand is not None or self.closing or len(shown.table) < 2
            else:
                (player,) = [player for player in shown.table if player.player_id == shown.turn.player_id]
                assert player.state == "active"
                assert player.bet_so_far == shown.turn.bet_so_far
                assert player.wealth > 0
                assert table.deadline is not None
                assert table.deadline > self.parlour.now
                assert self.parlour.house.deadline is not None
                assert self.parlour.house.deadline <= table.deadline
                assert sum(pot.size for pot in shown.pots) >= sum(player.bet_so_far for player in shown.table)

    @invariant()
    def there_is_a_free_seat_somewhere(self) -> None:
        """holdem-3.2"""
        assert any(table.has_free_seat for table in self.tables)

    @invariant()
    def nobody_sees_the_cards_of_others(self) -> None:
        """holdem-5.6"""
        hidden = () if self.parlour.settings.dialect == "readme" else None
        for table in self.tables:
            public = table.view()
            assert public.cards.hole == hidden
            for user in USERS:
                shown = table.view(user)
                place = next((one.hand_seat for one in self.sitters(table) if one.user == user), None)
                if place is None:
                    assert shown == public
                else:
                    hand = table._hand
                    assert hand is not None
                    assert shown.cards.hole == tuple(CARDS[card] for card in hand.holes[place])
                assert (shown.table, shown.turn, shown.pots) == (public.table, public.turn, public.pots)
                assert shown.cards.flop == public.cards.flop

    @invariant()
    def versions_grow_with_what_can_be_seen_and_are_told(self) -> None:
        """holdem-9.1"""
        told = dict(self.parlour.versions)
        for table in self.tables:
            for user in (None, *USERS):
                shown = self.parlour.sees(user, table.guid)
                key = (table.guid, user)
                if key in self.seen and self.seen[key] != shown:
                    assert table.version > self.versions[table.guid]
                self.seen[key] = shown
            assert table.version == told.get(table.guid, 1)
            assert table.version >= self.versions.get(table.guid, 0)
        self.versions = {table.guid: table.version for table in self.tables}

    @invariant()
    def who_is_listed_can_be_found(self) -> None:
        for table in self.tables:
            for player in table.view().table:
                assert table.player_guid(player.handle) == player.player_id == self.parlour.house.guid_of(player.handle)
            assert len(table) == sum(table.player_guid(user) is not None for user in USERS)
            assert len(self.sitters(table)) <= self.parlour.settings.seats


TestHouse = House.TestCase
TestHouse.settings = settings(max_examples=40, stateful_step_count=60, deadline=None)


@pytest.mark.slow
class TestLongEvenings(House.TestCase):
    settings = settings(
        max_examples=600, stateful_step_count=150, deadline=None, suppress_health_check=[HealthCheck.too_slow]
    )


@settings(deadline=None)
@given(
    st.permutations(range(52)),
    st.permutations(range(52)),
    st.integers(2, 4),
    st.lists(st.sampled_from(["call", "call", "call", "raise", "fold", "leave"]), max_size=14),
    st.sampled_from(["readme", "hspe-go"]),
)
def test_views_do_not_depend_on_hidden_cards(
    cards: list[int], others: list[int], players: int, moves: list[str], dialect: str
) -> None:
    """holdem-5.6: ann and the public hear the same as long as nothing is shown down, whatever the other cards are."""
    deck = " ".join(CARDS[card] for card in cards)
    parlour = company(deck, players, dialect)
    for number, move in enumerate(moves):
        if len(parlour.nets) > 1:
            return
        seen = parlour.sees("ann")["cards"]
        known = [*(seen["hole"] or []), *(seen["flop"] or []), *(seen["turn"] or []), *(seen["river"] or [])]
        rest = iter(CARDS[card] for card in others if CARDS[card] not in known)
        other = company(" ".join(name if name in known else next(rest) for name in deck.split()), players, dialect)
        for earlier in moves[:number]:
            do(other, earlier)
        for user in (None, "ann", "zoe"):
            assert other.sees(user) == parlour.sees(user)
        do(parlour, move)


def company(deck: str, players: int, dialect: str) -> Parlour:
    """A second hand with so many players; all hands are dealt from the same deck."""
    parlour = Parlour(deck, dialect=dialect)
    parlour.join(*USERS[:players])
    parlour.fold("ann")
    return parlour


def do(parlour: Parlour, move: str) -> None:
    """Whoever has to act does so; nobody but ann stays where he is."""
    turn = parlour.turn()
    if not turn:
        return
    shown = parlour.view().turn
    owed = shown.bet_to_player - shown.bet_so_far
    match move:
        case "call":
            parlour.bet(turn, owed)
        case "raise":
            parlour.bet(turn, owed + shown.minimum_raise)
        case "leave" if turn != "ann":
            parlour.leave(turn)
        case _:
            parlour.fold(turn)


@settings(deadline=None)
@given(
    st.integers(0, 999), st.integers(2, 6), st.lists(st.sampled_from(["call", "raise", "fold", "leave"]), max_size=30)
)
def test_the_same_seed_and_requests_give_the_same_responses(seed: int, players: int, moves: list[str]) -> None:
    """Whole evenings can be played again."""
    evenings = []
    for _ in range(2):
        parlour = Parlour(seed=seed)
        parlour.join(*("ann", "bob", "cat", "dan", "eve", "fay")[:players])
        for move in moves:
            do(parlour, move)
        evenings.append((parlour.sees("ann"), parlour.versions, parlour.nets))
    assert evenings[0] == evenings[1]


def test_arbitrary_requests_are_answered() -> None:
    parlour = Parlour()
    for game in ("", "\0", "x" * 10_000, "💣"):
        for request in (Join("ann", game), Leave("ann", game, game), Act("ann", game, game, ACTION_BET, 1)):
            answer = parlour.ask(request)
            assert isinstance(answer, RequestRefused)
            assert answer.status == 404
            assert len(answer.detail) < 1500
