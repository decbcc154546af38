"""The Old Maid screen, drawn without a terminal from the events of a player."""

from types import SimpleNamespace
from typing import Any

import pytest
from rich.console import Console

from croupier.core.dealer import FairDealer, derive_server_seed
from croupier.core.session import Event, Joined, Left, Notify, Peer, Received, Submitted, TimedOut
from croupier.rooms.oldmaid.cards import CARD_NUMBERS, WIRE_CARDS
from croupier.rooms.oldmaid.player import TABLE, Options, Player
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
from croupier.rooms.oldmaid.wire import OK, OUT, Offer, Pick, Reply, Standing, YourTurn
from croupier.tui.keys import ENTER, ESCAPE
from croupier.tui.oldmaid.scene import OldMaidScene, ending_text, event_text
from croupier.tui.oldmaid.table_view import card_face, cards_text
from croupier.tui.scene import TableAction

RIGHT: Peer = 1
LEFT: Peer = -1
NEXT: Peer = -2
ACES = CARD_NUMBERS["A", "spades"], CARD_NUMBERS["A", "clubs"]
JOKER = CARD_NUMBERS["joker", "maid"]
NOT_TAKEN = "The table does not take the ace of spades and the ace of clubs"


class BobsScreen:
    """The screen of Bob, who sits between Ann and Cyd."""

    def __init__(self, *nicks: str) -> None:
        self.player = Player(
            Options("bob", pause=0.0, retry_seconds=0.0), FairDealer(derive_server_seed(1, "oldmaid", 1)).luck
        )
        self.scene = OldMaidScene("table:9898")
        client: Any = SimpleNamespace(player=self.player)
        self.scene.sit(client)
        self.receive(Joined(TABLE))
        if nicks:
            listed = tuple((("192.0.2.1", 4001 + at), nick) for at, nick in enumerate(nicks))
            self.receive(Received(TABLE, Reply("ok", players=listed)), Joined(RIGHT), Joined(LEFT))

    def receive(self, *events: Event[Any]) -> None:
        for event in events:
            for effect in self.player.on(event, 0.0):
                if isinstance(effect, Notify):
                    assert not isinstance(effect.notice, Exception | Left)
                    self.scene.on_received(effect.notice)

    def draws(self, card: str, result: str = "ok") -> None:
        value, suit = card.split()
        self.receive(Received(RIGHT, YourTurn()), Received(TABLE, Reply(result, card=(value, suit))))
        if result == "ok":
            self.receive(Received(LEFT, OK))

    def sees(self, width: int = 72, height: int = 40) -> list[str]:
        console = Console(width=width, height=height, force_terminal=True, color_system=None)
        with console.capture() as capture:
            console.print(self.scene.draw())
        return [line.removeprefix("│").removesuffix("│").strip() for line in capture.get().splitlines()[1:-1]]


@pytest.fixture
def offered() -> BobsScreen:
    """Bob has a three and the old maid; Ann offers twelve cards."""
    bob = BobsScreen("ann", "bob", "cyd")
    bob.draws("3 spades")
    bob.draws("joker maid")
    bob.receive(Received(RIGHT, Offer(12)))
    return bob


def test_waiting_for_players() -> None:
    seen = BobsScreen().sees()
    assert seen[0] == "Waiting for other players …"
    assert seen[-1] == "[q] leave"


def test_the_ring_shows_neighbours() -> None:
    bob = BobsScreen("ann", "bob", "cyd", "dan")
    bob.draws("3 spades")
    assert bob.sees()[:4] == ["ann right neighbour", "bob you, 1 card", "cyd left neighbour", "dan"]
    assert "The others are playing …" in bob.sees()


def test_the_marker_shows_who_offers(offered: BobsScreen) -> None:
    seen = offered.sees()
    assert seen[:3] == ["> ann right neighbour", "bob you, 2 cards", "cyd left neighbour"]
    assert {"Card 1 of 12", "You are offered 12 cards: which card do you pick?"} < {*seen}


def test_players_who_are_out_or_gone_are_no_neighbours() -> None:
    bob = BobsScreen("ann", "bob", "cyd", "dan")
    bob.draws("3 spades")
    bob.receive(Left(LEFT, "closed"), Joined(NEXT))
    assert bob.sees()[2:4] == ["cyd gone", "dan left neighbour"]
    bob.draws("3 hearts", "last_card")
    bob.receive(Received(NEXT, OK), Received(NEXT, OUT))
    assert bob.sees()[:4] == ["ann left and right", "bob you, 2 cards", "cyd gone", "dan out"]
    assert {"cyd is gone", "dan is out"} < {*bob.sees()}


def test_choosing_a_card(offered: BobsScreen) -> None:
    backs = next(at for at, line in enumerate(offered.sees()) if line == "╭─╮")
    assert offered.sees()[backs + 1].startswith("│░│ ╭─╮ ╭─╮")
    for key, card in (("\x1b[C", 2), ("\x1bOC", 3), ("\x1b[D", 2), ("\x1bOD", 1), ("\x1b[D", 12), ("\x1b[C", 1)):
        assert offered.scene.press(key) is None
        assert f"Card {card} of 12" in offered.sees()
    for key, card in (("1", 1), ("2", 12), ("3", 3), ("0", 3), ("9", 9), ("\x7f", 9), ("1", 1)):
        assert offered.scene.press(key) is None
        assert f"Card {card} of 12" in offered.sees()
    assert offered.scene.press(ENTER) == Pick(0)


def test_waiting_for_a_picked_card(offered: BobsScreen) -> None:
    pick = offered.scene.press(ENTER)
    assert isinstance(pick, Pick)
    offered.receive(Submitted(pick), TimedOut())
    assert "Waiting for the neighbour …" in offered.sees()
    assert offered.scene.press(ENTER) is None
    assert "Enter does nothing now." in offered.sees()
    offered.receive(Received(RIGHT, Reply("ok", card=("K", "hearts"))))
    assert "You pick the king of hearts" in offered.sees()
    assert "You offer 3 cards to cyd …" in offered.sees()


def test_unknown_keys_are_reported(offered: BobsScreen) -> None:
    for key, text in (("x", "'x' does nothing now."), ("\x1b[A", "That key does nothing now."), ("n", "'n' does")):
        assert offered.scene.press(key) is None
        assert any(line.startswith(text) for line in offered.sees())


def test_leaving_during_a_game_needs_confirmation(offered: BobsScreen) -> None:
    assert offered.scene.press("q") is None
    assert offered.sees()[-1] == "[q] leave anyway  [Esc] stay"
    assert offered.scene.press(ESCAPE) is None
    assert offered.scene.press("q") is None
    assert offered.scene.press("q") is TableAction.LEAVE
    assert BobsScreen().scene.press("q") is TableAction.LEAVE


def test_a_finished_game_is_counted_and_another_can_begin() -> None:
    bob = BobsScreen("ann", "bob", "cyd")
    bob.draws("joker maid", "last_card")
    bob.receive(Received(LEFT, OUT), Joined(NEXT), Received(NEXT, OUT))
    seen = bob.sees()
    assert {"You are left with the old maid: you have lost.", "Games: 1   Lost: 1", "The game is over."} < {*seen}
    assert seen[-1] == "[n/Enter] another game  [q] leave"
    assert bob.scene.press(ENTER) is TableAction.REJOIN
    client: Any = SimpleNamespace(player=BobsScreen().player)
    bob.scene.sit(client)
    assert "Games: 1   Lost: 1" in bob.sees()
    bob.scene.on_ended("You have left the table.")
    assert bob.sees()[-1] == "Games: 1   Lost: 1"


def test_a_game_that_never_began_is_not_counted() -> None:
    bob = BobsScreen()
    bob.receive(Received(TABLE, Reply("error", "oldmaid-3.8: taken")))
    assert bob.sees() == [
        "Waiting for other players …",
        "The game ended early: the table does not let us in: oldmaid-3.8:",
        "taken.",
        "Games: 0   Lost: 0",
        "[q] leave",
    ]


def test_a_player_who_is_out_watches_the_others() -> None:
    bob = BobsScreen("ann", "bob", "cyd")
    bob.draws("3 spades", "last_card")
    bob.receive(Received(LEFT, OK), Received(LEFT, Pick(0)), Received(TABLE, OK), TimedOut())
    bob.player.on(TimedOut(), 9.0)
    bob.receive(Received(TABLE, Standing(("ann", "cyd"), ("bob",))))
    seen = bob.sees()
    assert "bob you, out" in seen
    assert "You are out; the others are still playing …" in seen
    assert {"cyd picks the 3 of spades from you", "You have no cards left", "You are number 1"} < {*seen}
    assert bob.scene.press("q") is TableAction.LEAVE


@pytest.mark.parametrize(
    ("event", "text"),
    [
        (SeatTaken(((("192.0.2.1", 1), "ann"), (("192.0.2.1", 2), "bob")), 1), "2 players; you are number 2"),
        (CardDrawn(JOKER, True), "You draw the last card, the old maid"),
        (CardDrawn(CARD_NUMBERS["10", "hearts"], False), "You draw the 10 of hearts"),
        (PairDiscarded(*ACES), "You throw away the ace of spades and the ace of clubs"),
        (PairRefused(*ACES, "no\x1b[m"), "The table does not take the ace of spades and the ace of clubs: no?[m"),
        (
            PairRefused(*ACES, "oldmaid-6.9: x"),
            "The table does not take the ace of spades and the ace of clubs: the game is over",
        ),
        (OfferReceived(0), "You are offered an empty hand: it is your turn"),
        (OfferReceived(3), ""),
        (OfferWithdrawn(), "The neighbour who offered you a hand is gone: it is your turn"),
        (CardPicked(JOKER), "You pick the old maid"),
        (CardGiven(JOKER, "an\x1bn"), "an?n picks the old maid from you"),
        (NeighbourSkipped("ann", "gone"), "ann is gone"),
        (HandEmptied(), "You have no cards left"),
        (PlaceAnnounced(2), "You are number 2"),
        (OfferMade("ann", 3), ""),
        (StandingChanged(Standing((), ())), ""),
        (PlayerFinished(PlayerResult("out", 1)), ""),
    ],
)
def test_events_have_history_lines(event: PlayerEvent, text: str) -> None:
    assert event_text(event) == text


def test_every_ending_has_a_text() -> None:
    assert ending_text(PlayerResult("out", 2)) == "The game is over, and you have not lost. You are number 2."
    assert ending_text(PlayerResult("out")) == "The game is over, and you have not lost."
    assert ending_text(PlayerResult("lost", 4)) == "You are left with the old maid: you have lost."
    assert ending_text(PlayerResult("ended", None, "why")) == "The game ended early: why."


def test_every_card_has_a_face_and_a_name_of_its_own() -> None:
    assert (
        len({card_face(card).name for card in range(len(WIRE_CARDS))})
        == len({cards_text([card]) for card in range(len(WIRE_CARDS))})
        == 53
    )
    assert cards_text([0, 33, JOKER]) == "2♠ 10♣ joker"


@pytest.mark.parametrize("width", [20, 30, 40, 72])
@pytest.mark.parametrize("height", [8, 16, 24, 40])
def test_every_terminal_size_shows_the_keys(offered: BobsScreen, width: int, height: int) -> None:
    seen = offered.sees(width, height)
    assert len(seen) <= height - 1
    assert "leave" in " ".join(seen[-3:])
