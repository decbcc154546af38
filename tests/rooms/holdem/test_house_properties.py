"""Property-based tests of a hold'em house under random requests."""

from typing import Any

import pytest
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

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
from tests.rooms.holdem.house_fixture import HouseFixture
from tests.sampling import example_count

USERS = ("ann", "bob", "cat", "dan", "eve")

AMOUNTS = st.one_of(
    st.integers(-3, 130), st.sampled_from([0, 10, 20, 40, 100, 980, 990, 1000, 2000, MAX_AMOUNT, -MAX_AMOUNT])
)

users = st.sampled_from(USERS)
games = st.integers(0, 5)


class HouseMachine(RuleBasedStateMachine):
    """Random sessions. The model counts the chips that were brought to every table, and taken away from it."""

    @initialize(
        options=st.fixed_dictionaries(
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
    def begin(self, options: dict[str, Any]) -> None:
        note(str(options))
        self.fixture = HouseFixture(**options)
        self.chips: dict[str, int] = {}
        self.seen: dict[tuple[str, str | None], Any] = {}
        self.versions = {table.guid: table.version for table in self.tables}
        self.known: list[Participant] = []
        self.closing = False

    @property
    def tables(self) -> tuple[Table, ...]:
        return tuple(self.fixture.house.games())

    def game(self, number: int) -> str:
        return self.tables[number % len(self.tables)].guid

    def seated_participants(self, table: Table) -> list[Participant]:
        return table.seats.seated_participants

    def wealth(self, table: Table, user: str) -> int:
        """Return the chips with which a user would leave now."""
        shown = {player.handle: player.wealth for player in table.view().table}
        return shown.get(
            user, sum(participant.chips for participant in self.seated_participants(table) if participant.user == user)
        )

    def watch(self) -> dict[tuple[str, str], int]:
        """Return the wealth of all users, before an event."""
        return {(table.guid, user): self.wealth(table, user) for table in self.tables for user in USERS}

    def account(self, before: dict[tuple[str, str], int], *removed: tuple[str, str]) -> None:
        """Update the model after an event: newly seated players bring chips, removed players take theirs away."""
        for game, user in removed:
            self.chips[game] -= before[game, user]
        for table in self.tables:
            for participant in self.seated_participants(table):
                if participant not in self.known:
                    self.known.append(participant)
                    self.chips[table.guid] = self.chips.get(table.guid, 0) + self.fixture.settings.stack

    # Events

    @rule(user=users, number=games)
    def joins(self, user: str, number: int) -> None:
        game = self.game(number)
        table = self.fixture.table(game)
        before, free, there = self.watch(), table.has_free_seat, table.player_guid(user)
        answer = self.fixture.request(Join(user, game))
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
        full = self.closing or len(self.tables) >= self.fixture.settings.games
        answer = self.fixture.request(Open(user))
        assert isinstance(answer, RequestRefused if full else Created)
        self.account(before)

    @precondition(lambda self: not self.closing)
    @rule()
    def is_interrupted(self) -> None:
        self.fixture.restart()
        self.known = [participant for table in self.tables for participant in self.seated_participants(table)]

    @rule(user=users, number=games)
    def leaves(self, user: str, number: int) -> None:
        game = self.game(number)
        before, there = self.watch(), self.fixture.table(game).player_guid(user)
        answer = self.fixture.leave(user, game)
        if there is None:
            assert isinstance(answer, RequestRefused)
            assert answer.status == 404
            self.account(before)
        else:
            assert answer == PLAYER_LEFT
            self.account(before, *([(game, user)] if game in self.chips else []))

    def acts(self, user: str, game: str, action: int, chips: int) -> None:
        table = self.fixture.table(game)
        before, turn = self.watch(), self.fixture.turn(game)
        there = table.player_guid(user)
        running = table._hand
        legal = action == ACTION_FOLD or (running is not None and chips in running.hand.legal)
        answer = self.fixture.request(Act(user, game, self.fixture.house.guid_of(user), action, chips))
        if there is None:
            assert isinstance(answer, RequestRefused)
            assert answer.status == 404
        elif turn != user:
            assert isinstance(answer, RequestRefused)
            assert answer.status == (409 if self.fixture.settings.dialect == "hspe-go" else 403)
        else:
            assert isinstance(answer, ActDone)
            assert (answer.reason == "") == legal
        self.account(before)

    @rule(user=users, number=games, action=st.sampled_from([ACTION_FOLD, ACTION_BET]), chips=AMOUNTS)
    def any_player_acts(self, user: str, number: int, action: int, chips: int) -> None:
        self.acts(user, self.game(number), action, chips)

    @rule(number=games, chips=AMOUNTS)
    def player_to_act_bets(self, number: int, chips: int) -> None:
        game = self.game(number)
        if turn := self.fixture.turn(game):
            self.acts(turn, game, ACTION_BET, chips)

    @rule(number=games, kind=st.sampled_from(["call", "call", "call", "least", "all", "fold"]))
    def player_to_act_acts_legally(self, number: int, kind: str) -> None:
        game = self.game(number)
        if turn := self.fixture.turn(game):
            running = self.fixture.table(game)._hand
            assert running is not None
            legal = running.hand.legal
            low, high = legal.raise_range or (legal.call, legal.call)
            chips = {"call": legal.call, "least": low, "all": high, "fold": 0}[kind]
            self.acts(turn, game, ACTION_FOLD if kind == "fold" else ACTION_BET, chips)

    @rule(seconds=st.sampled_from([0.5, 1.9, 7.0, 15.0, 40.0]))
    def time_passes(self, seconds: float) -> None:
        until = self.fixture.now + seconds
        while (deadline := self.fixture.house.deadline) is not None and deadline <= until:
            before = self.watch()
            late = [
                (t.guid, self.fixture.turn(t.guid))
                for t in self.tables
                if t.deadline is not None and t.deadline <= deadline
            ]
            self.fixture.wait(deadline - self.fixture.now)
            self.account(before, *(participant for participant in late if participant[1]))
        self.fixture.wait(until - self.fixture.now)

    @precondition(lambda self: len(self.fixture.nets) > 3)
    @rule(final=st.booleans())
    def closes(self, final: bool) -> None:
        self.closing = True
        for table in self.tables if final else ():
            running = table._hand
            if running is not None and not running.is_over:  # voided: players who left get their bets back
                gone = [seat for seat, participant in enumerate(running.players) if participant.chair is None]
                self.chips[table.guid] -= sum(running.hand.paid[seat] for seat in gone)
        self.fixture.close(final=final)
        self.account({})

    # Invariants

    @invariant()
    def chips_are_neither_made_nor_lost(self) -> None:
        """holdem-5.17"""
        for table in self.tables:
            shown = table.view()
            listed = {player.handle for player in shown.table}
            assert len(listed) == len(shown.table)
            here = sum(player.wealth for player in shown.table) + sum(pot.size for pot in shown.pots)
            waiting = sum(
                participant.chips for participant in self.seated_participants(table) if participant.user not in listed
            )
            assert here + waiting == self.chips.get(table.guid, 0)
            assert all(player.wealth >= 0 for player in shown.table)
        assert all(sum(nets) == 0 for nets in self.fixture.nets)

    @invariant()
    def at_most_one_player_is_to_act(self) -> None:
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
                assert table.deadline > self.fixture.now
                assert self.fixture.house.deadline is not None
                assert self.fixture.house.deadline <= table.deadline
                assert sum(pot.size for pot in shown.pots) >= sum(player.bet_so_far for player in shown.table)

    @invariant()
    def there_is_a_free_seat_somewhere(self) -> None:
        """holdem-3.2"""
        assert any(table.has_free_seat for table in self.tables)

    @invariant()
    def hidden_cards_are_not_shown(self) -> None:
        """holdem-5.6"""
        hidden = () if self.fixture.settings.dialect == "readme" else None
        for table in self.tables:
            public = table.view()
            assert public.cards.hole == hidden
            for user in USERS:
                shown = table.view(user)
                hand_seat = next(
                    (
                        participant.hand_seat
                        for participant in self.seated_participants(table)
                        if participant.user == user
                    ),
                    None,
                )
                if hand_seat is None:
                    assert shown == public
                else:
                    assert table._hand is not None
                    assert shown.cards.hole == tuple(CARDS[card] for card in table._hand.hand.holes[hand_seat])
                assert (shown.table, shown.turn, shown.pots) == (public.table, public.turn, public.pots)
                assert shown.cards.flop == public.cards.flop

    @invariant()
    def versions_increase_with_visible_changes_and_are_announced(self) -> None:
        """holdem-9.1"""
        announced = dict(self.fixture.versions)
        for table in self.tables:
            for user in (None, *USERS):
                shown = self.fixture.json_view(user, table.guid)
                key = (table.guid, user)
                if key in self.seen and self.seen[key] != shown:
                    assert table.version > self.versions[table.guid]
                self.seen[key] = shown
            assert table.version == announced.get(table.guid, 1)
            assert table.version >= self.versions.get(table.guid, 0)
        self.versions = {table.guid: table.version for table in self.tables}

    @invariant()
    def listed_players_are_found(self) -> None:
        for table in self.tables:
            for player in table.view().table:
                assert table.player_guid(player.handle) == player.player_id == self.fixture.house.guid_of(player.handle)
            assert len(table.seats.participants) == sum(table.player_guid(user) is not None for user in USERS)
            assert len(self.seated_participants(table)) <= self.fixture.settings.seats


TestHouse = HouseMachine.TestCase
TestHouse.settings = settings(max_examples=example_count(40), stateful_step_count=60, deadline=None)


@pytest.mark.slow
class TestLongSessions(HouseMachine.TestCase):
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
    """holdem-5.6: before a showdown, the views of ann and the public do not depend on the other cards."""
    deck = " ".join(CARDS[card] for card in cards)
    fixture = second_hand(deck, players, dialect)
    for number, move in enumerate(moves):
        if len(fixture.nets) > 1:
            return
        seen = fixture.json_view("ann")["cards"]
        known = [*(seen["hole"] or []), *(seen["flop"] or []), *(seen["turn"] or []), *(seen["river"] or [])]
        rest = iter(CARDS[card] for card in others if CARDS[card] not in known)
        other = second_hand(" ".join(name if name in known else next(rest) for name in deck.split()), players, dialect)
        for earlier in moves[:number]:
            make_move(other, earlier)
        for user in (None, "ann", "zoe"):
            assert other.json_view(user) == fixture.json_view(user)
        make_move(fixture, move)


def second_hand(deck: str, players: int, dialect: str) -> HouseFixture:
    """Return a house in its second hand; all hands are dealt from the same deck."""
    fixture = HouseFixture(deck, dialect=dialect)
    fixture.join(*USERS[:players])
    fixture.fold("ann")
    return fixture


def make_move(fixture: HouseFixture, move: str) -> None:
    """Let the player to act make a move; ann never leaves."""
    turn = fixture.turn()
    if not turn:
        return
    shown = fixture.view().turn
    owed = shown.bet_to_player - shown.bet_so_far
    match move:
        case "call":
            fixture.bet(turn, owed)
        case "raise":
            fixture.bet(turn, owed + shown.minimum_raise)
        case "leave" if turn != "ann":
            fixture.leave(turn)
        case _:
            fixture.fold(turn)


@settings(deadline=None)
@given(
    st.integers(0, 999), st.integers(2, 6), st.lists(st.sampled_from(["call", "raise", "fold", "leave"]), max_size=30)
)
def test_the_same_seed_and_requests_give_the_same_responses(seed: int, players: int, moves: list[str]) -> None:
    """Whole sessions are reproducible."""
    sessions = []
    for _ in range(2):
        fixture = HouseFixture(seed=seed)
        fixture.join(*("ann", "bob", "cat", "dan", "eve", "fay")[:players])
        for move in moves:
            make_move(fixture, move)
        sessions.append((fixture.json_view("ann"), fixture.versions, fixture.nets))
    assert sessions[0] == sessions[1]


def test_arbitrary_requests_are_answered() -> None:
    fixture = HouseFixture()
    for game in ("", "\0", "x" * 10_000, "💣"):
        for request in (Join("ann", game), Leave("ann", game, game), Act("ann", game, game, ACTION_BET, 1)):
            answer = fixture.request(request)
            assert isinstance(answer, RequestRefused)
            assert answer.status == 404
            assert len(answer.detail) < 1500
