"""The presenter of Old Maid describes the ring to one of its players."""

from collections.abc import Sequence
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from croupier.core.cards import Order
from croupier.core.dealer import FairDealer, derive_server_seed
from croupier.core.presentation import TableCommand, TableView, UnknownAction, verbatim
from croupier.core.session import Event, Joined, Left, Notify, Peer, Received, Submitted, TimedOut
from croupier.rooms.oldmaid import ROOM
from croupier.rooms.oldmaid.cards import CARD_COUNT, CARD_NUMBERS
from croupier.rooms.oldmaid.player import TABLE, Options, Player
from croupier.rooms.oldmaid.presenter import CARD_VIEWS, PICK_KEYS, OldMaidPresenter
from croupier.rooms.oldmaid.ring.player_events import (
    CardDrawn,
    CardGiven,
    CardPicked,
    HandEmptied,
    NeighbourSkipped,
    OfferMade,
    OfferReceived,
    OfferWithdrawn,
    PairDiscarded,
    PairRefused,
    PlaceAnnounced,
    PlayerEvent,
    PlayerFinished,
    PlayerResult,
    SeatTaken,
    StandingChanged,
)
from croupier.rooms.oldmaid.wire import OK, OUT, Message, Offer, Pick, Reply, Standing, YourTurn
from tests.presentation import action_keys, announcements, check_table, other_actions
from tests.rooms.oldmaid.network import Network, Node, in_order, random_order
from tests.sampling import example_count

RIGHT: Peer = 1
LEFT: Peer = -1
NEXT: Peer = -2
ACES = CARD_NUMBERS["A", "spades"], CARD_NUMBERS["A", "clubs"]
JOKER = CARD_NUMBERS["joker", "maid"]


class Bob:
    """A person in the ring, whose table and neighbours are the test."""

    def __init__(self, *nicks: str) -> None:
        self.presenter: OldMaidPresenter = ROOM.load_extra("presenter")()
        self.sit(*nicks)

    def sit(self, *nicks: str) -> TableView:
        self.player = Player(
            Options("bob", pause=0.0, retry_seconds=0.0), FairDealer(derive_server_seed(1, "oldmaid", 1)).luck
        )
        assert self.presenter.sit(self.player) is None
        self.hear(Joined(TABLE))
        if nicks:
            listed = tuple((("192.0.2.1", 4001 + at), nick) for at, nick in enumerate(nicks))
            self.hear(Received(TABLE, Reply("ok", players=listed)), Joined(RIGHT), Joined(LEFT))
        return self.table

    def hear(self, *events: Event[Any]) -> TableView:
        for event in events:
            for effect in self.player.on(event, 0.0):
                if isinstance(effect, Notify):
                    assert not isinstance(effect.notice, Exception | Left)
                    self.presenter.received(effect.notice)
        return self.table

    def draw(self, card: str, result: str = "ok") -> TableView:
        value, suit = card.split()
        self.hear(Received(RIGHT, YourTurn()), Received(TABLE, Reply(result, card=(value, suit))))
        return self.hear(Received(LEFT, OK)) if result == "ok" else self.table

    def press(self, action: str) -> TableView:
        pick = self.presenter.move(action)
        assert isinstance(pick, Pick)
        effects = self.player.on(Submitted(pick), 0.0)
        self.presenter.sent(pick)
        assert not any(isinstance(effect, Notify) for effect in effects)
        return self.table

    @property
    def table(self) -> TableView:
        view = self.presenter.table(0.0)
        check_table(view)
        return view


@pytest.fixture
def offered() -> Bob:
    """Bob has a three and the old maid; Ann offers twelve cards."""
    bob = Bob("ann", "bob", "cyd")
    bob.draw("3 spades")
    bob.draw("joker maid")
    bob.hear(Received(RIGHT, Offer(12)))
    return bob


def seat_lines(view: TableView) -> list[str]:
    return [
        " ".join(filter(None, (str(seat.name), seat.status and f"({seat.status})", str(seat.caption or ""))))
        for seat in view.seats
    ]


def test_waiting_for_players() -> None:
    view = Bob().table
    assert (view.seats, str(view.blocked), action_keys(view)) == ((), "Waiting for other players.", ["q leave"])
    assert str(view.actions[-1].help) == "ends the session"


def test_the_ring_begins_at_the_left_neighbour_and_ends_at_the_player() -> None:
    bob = Bob("ann", "bob", "cyd", "dan")
    view = bob.draw("3 spades")
    assert seat_lines(view) == [
        "cyd left neighbour",
        "dan",
        "ann right neighbour",
        "You 1 card, pairs laid down: 0",
    ]
    assert [card.face for card in view.seats[-1].cards] == ["3S"]
    assert (str(view.status), str(view.blocked)) == ("The others are playing.",) * 2
    assert str(view.actions[-1].help) == "ends the session, and you come last"


def test_an_offered_hand_is_picked_from(offered: Bob) -> None:
    view = offered.table
    assert action_keys(view)[:2] == ["1 pick-1", "2 pick-2"]
    assert action_keys(view)[8:] == ["9 pick-9", "a pick-10", "b pick-11", "c pick-12", "q leave"]
    assert [len(seat.cards) for seat in view.seats] == [0, 12, 2]
    assert {card.face for card in view.seats[1].cards} == {None}
    assert (view.seats[2].status, str(view.status)) == (
        "to act",
        "You are offered 12 cards: which one do you pick?",
    )
    waiting = offered.press("pick-3")
    assert (action_keys(waiting), str(waiting.blocked)) == (["q leave"], "Waiting for the neighbour.")
    offered.hear(TimedOut())
    picked = offered.hear(Received(RIGHT, Reply("ok", card=("K", "hearts"))))
    assert announcements(picked) == ["You pick the king of hearts."]
    assert str(picked.status) == "You offer 3 cards to cyd."
    with pytest.raises(UnknownAction):
        offered.press("pick-1")


def test_players_who_are_out_or_gone_are_no_neighbours() -> None:
    bob = Bob("ann", "bob", "cyd", "dan")
    bob.draw("3 spades")
    bob.hear(Left(LEFT, "closed"), Joined(NEXT))
    assert seat_lines(bob.table)[:2] == ["cyd (away)", "dan left neighbour"]
    bob.draw("3 hearts", "last_card")
    view = bob.hear(Received(NEXT, OK), Received(NEXT, OUT))
    assert seat_lines(view)[:3] == ["cyd (away)", "dan (out)", "ann left and right neighbour"]
    assert {"cyd is gone.", "dan is out."} < {*announcements(view)}


def test_a_finished_game_is_counted_and_another_can_begin() -> None:
    bob = Bob("ann", "bob", "cyd")
    bob.draw("joker maid", "last_card")
    view = bob.hear(Received(LEFT, OUT), Joined(NEXT), Received(NEXT, OUT))
    assert announcements(view)[-1] == "You are left with the old maid: you have lost."
    assert (str(view.score), str(view.status)) == ("1 game, lost: 1", "The game is over.")
    assert [str(result) for result in view.results] == ["game 1: lost"]
    assert action_keys(view) == ["n rejoin", "q leave"]
    assert bob.presenter.move("rejoin") is TableCommand.REJOIN
    assert str(bob.sit("ann", "bob").score) == "1 game, lost: 1"


def test_a_game_that_never_began_is_not_counted() -> None:
    bob = Bob()
    view = bob.hear(Received(TABLE, Reply("error", "oldmaid-3.8: taken")))
    assert announcements(view)[-1] == "The game ended early: the table does not let bob in: oldmaid-3.8: taken."
    assert (str(view.score), action_keys(view)) == ("0 games, lost: 0", ["q leave"])
    bob.presenter.ended(verbatim("No answer."))
    assert (bob.table.is_over, bob.table.actions, str(bob.table.status)) == (True, (), "No answer.")


def test_a_player_who_is_out_watches_the_others() -> None:
    bob = Bob("ann", "bob", "cyd")
    bob.draw("3 spades", "last_card")
    bob.hear(Received(LEFT, OK), Received(LEFT, Pick(0)), Received(TABLE, OK), TimedOut())
    bob.player.on(TimedOut(), 9.0)
    view = bob.hear(Received(TABLE, Standing(("ann", "cyd"), ("bob",))))
    assert seat_lines(view)[-1] == "You (out) 0 cards, pairs laid down: 0"
    assert str(view.blocked) == "You are out; the others are still playing."
    assert announcements(view)[-3:] == [
        "cyd picks the 3 of spades from you.",
        "You have no cards left.",
        "You are number 1.",
    ]
    assert str(view.actions[-1].help) == "ends the session"


@pytest.mark.parametrize(
    ("event", "sentence"),
    [
        (SeatTaken(((("192.0.2.1", 1), "ann"), (("192.0.2.1", 2), "bob")), 1), "2 players; you are number 2."),
        (CardDrawn(JOKER, True), "You draw the last card, the old maid."),
        (CardDrawn(CARD_NUMBERS["10", "hearts"], False), "You draw the 10 of hearts."),
        (PairDiscarded(*ACES), "You lay down the ace of spades, the ace of clubs."),
        (PairRefused(*ACES, "no\x1b[m"), "The table does not take the ace of spades, the ace of clubs: no\\x1b[m."),
        (
            PairRefused(*ACES, "oldmaid-6.9: x"),
            "The table does not take the ace of spades, the ace of clubs: the game is over.",
        ),
        (OfferReceived(0), "You are offered an empty hand: it is your turn."),
        (OfferWithdrawn(), "The neighbour who offered you a hand is gone: it is your turn."),
        (CardPicked(JOKER), "You pick the old maid."),
        (CardGiven(JOKER, "an\x1bn"), "an\\x1bn picks the old maid from you."),
        (NeighbourSkipped("ann", "gone"), "ann is gone."),
        (HandEmptied(), "You have no cards left."),
        (PlaceAnnounced(2), "You are number 2."),
        (
            PlayerFinished(PlayerResult("out", 2)),
            "The game is over, and you have not lost: you are number 2.",
        ),
        (PlayerFinished(PlayerResult("out")), "The game is over, and you have not lost."),
        (PlayerFinished(PlayerResult("ended", None, "why")), "The game ended early: why."),
    ],
)
def test_events_have_sentences(event: PlayerEvent, sentence: str) -> None:
    bob = Bob()
    bob.presenter.received(event)
    assert announcements(bob.table)[1:] == [sentence]


@pytest.mark.parametrize("event", [OfferReceived(3), OfferMade("ann", 3), StandingChanged(Standing((), ()))])
def test_some_events_are_seen_at_the_table(event: PlayerEvent) -> None:
    bob = Bob()
    bob.presenter.received(event)
    assert len(bob.table.announcements) == 1


@pytest.mark.parametrize(
    ("result", "words"),
    [
        (PlayerResult("out", 2), "game 1: number 2 of 3"),
        (PlayerResult("out"), "game 1: not lost"),
        (PlayerResult("ended", None, "why"), "game 1: ended early"),
    ],
)
def test_results_are_named_once_when_the_player_has_them(result: PlayerResult, words: str) -> None:
    bob = Bob("ann", "bob", "cyd")
    bob.player.result = result
    assert [str(text) for text in bob.table.results] == [words], "another game can be begun already"
    bob.presenter.received(PlayerFinished(result))
    assert [str(text) for text in bob.table.results] == [words]


def test_every_card_has_a_face_and_a_name_of_its_own() -> None:
    assert len({view.face for view in CARD_VIEWS}) == len({str(view.name) for view in CARD_VIEWS}) == CARD_COUNT
    assert len({*PICK_KEYS}) == len(PICK_KEYS) >= CARD_COUNT


class PresentedNetwork(Network):
    """A game of which some players pick with the actions of their presenters, and the others at random."""

    def __init__(
        self, players: int, seed: int, *, presented: Sequence[str], is_random: bool = False, decks: Sequence[Order] = ()
    ) -> None:
        self.presenters = {nick: OldMaidPresenter() for nick in presented}
        self.seen: list[tuple[Event[Message], TableView]] = []
        self._picks = FairDealer(derive_server_seed(seed, "picks", 1)).luck
        choose = random_order(self._picks) if is_random else in_order
        super().__init__(players, seed, choose=choose, wires=False, decks=decks)

    def _on(self, node: Node, event: Event[Message]) -> None:
        presenter = self.presenters.get(node.name)
        if presenter is None:
            super()._on(node, event)
            return
        if isinstance(event, Joined) and event.peer == TABLE:
            presenter.sit(node.player)
        effects = node.session.on(event, self.now)
        if isinstance(event, Submitted):
            presenter.sent(event.message)
        for effect in effects:
            if isinstance(effect, Notify):
                presenter.received(effect.notice)
        self.seen.append((event, presenter.table(self.now)))
        for effect in effects:
            self._perform(node, effect)
        if node.player.legal:
            actions = [action for action in presenter.table(self.now).actions if action.id.startswith("pick")]
            pick = presenter.move(actions[self._picks.below(len(actions))].id)
            assert isinstance(pick, Pick)
            self._on(node, Submitted(pick))


@settings(max_examples=example_count(20))
@given(st.integers(2, 8), st.integers(0, 10**6), st.booleans())
def test_the_actions_are_exactly_the_legal_picks(players: int, seed: int, is_random: bool) -> None:
    network = PresentedNetwork(players, seed, presented=["bob"], is_random=is_random)
    presenter, player = network.presenters["bob"], network.players[1].player
    last_view = None
    for _ in network.walk():
        view = presenter.table(network.now)
        if view == last_view:
            continue
        last_view = view
        check_table(view)
        results = [presenter.move(action.id) for action in other_actions(view)]
        assert [result for result in results if isinstance(result, Pick)] == [*player.legal]
        assert (TableCommand.REJOIN in results) == (player.result is not None and player.seat is not None)
    has_lost = network.ranking[-1] == "bob"
    assert str(presenter.table(0.0).score) == f"1 game, lost: {int(has_lost)}"
    place = network.ranking.index("bob") + 1
    assert str(presenter.table(0.0).results[0]) == (
        "game 1: lost" if has_lost else f"game 1: number {place} of {players}"
    )


@settings(max_examples=example_count(20))
@given(st.integers(2, 6), st.integers(0, 10**6), st.randoms(use_true_random=False))
def test_cards_that_a_player_has_not_seen_change_nothing(players: int, seed: int, luck: Random) -> None:
    """Two games in which Ann draws the same cards, and the others draw theirs in another order."""
    deck = [*range(CARD_COUNT)]
    luck.shuffle(deck)
    other_cards = [card for at, card in enumerate(deck) if at % players]
    luck.shuffle(other_cards)
    swapped = [other_cards.pop() if at % players else card for at, card in enumerate(deck)]
    games = [PresentedNetwork(players, seed, presented=["ann"], decks=[tuple(cards)]) for cards in (deck, swapped)]
    for game in games:
        game.run()
    same_count = 0
    for (event, view), (other_event, other_view) in zip(games[0].seen, games[1].seen, strict=False):
        if event != other_event:
            break
        assert view == other_view
        same_count += 1
    assert same_count > CARD_COUNT // players
