"""What a person sees of a ring of Old Maid, drawn without a terminal from what his player hears."""

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
from croupier.tui.table_action import TableAction

RIGHT: Peer = 1
LEFT: Peer = -1
NEXT: Peer = -2
ACES = CARD_NUMBERS["A", "spades"], CARD_NUMBERS["A", "clubs"]
JOKER = CARD_NUMBERS["joker", "maid"]
NOT_TAKEN = "The table does not take the ace of spades and the ace of clubs"


class Visit:
    """Bob, who sits between Ann and Cyd, and what he sees."""

    def __init__(self, *nicks: str) -> None:
        self.player = Player(
            Options("bob", pause=0.0, retry_seconds=0.0), FairDealer(derive_server_seed(1, "oldmaid", 1)).luck
        )
        self.scene = OldMaidScene("table:9898")
        self.scene.sit(self.player)
        self.hears(Joined(TABLE))
        if nicks:
            listed = tuple((("192.0.2.1", 4001 + at), nick) for at, nick in enumerate(nicks))
            self.hears(Received(TABLE, Reply("ok", players=listed)), Joined(RIGHT), Joined(LEFT))

    def hears(self, *events: Event[Any]) -> None:
        for event in events:
            for effect in self.player.on(event, 0.0):
                if isinstance(effect, Notify):
                    assert not isinstance(effect.notice, Exception | Left)
                    self.scene.on_received(effect.notice)

    def draws(self, card: str, result: str = "ok") -> None:
        value, suit = card.split()
        self.hears(Received(RIGHT, YourTurn()), Received(TABLE, Reply(result, card=(value, suit))))
        if result == "ok":
            self.hears(Received(LEFT, OK))

    def sees(self, width: int = 72, height: int = 40) -> list[str]:
        console = Console(width=width, height=height, force_terminal=True, color_system=None)
        with console.capture() as capture:
            console.print(self.scene.draw())
        return [line.removeprefix("│").removesuffix("│").strip() for line in capture.get().splitlines()[1:-1]]


@pytest.fixture
def offered() -> Visit:
    """Bob has a three and the old maid, and Ann offers him twelve cards."""
    visit = Visit("ann", "bob", "cyd")
    visit.draws("3 spades")
    visit.draws("joker maid")
    visit.hears(Received(RIGHT, Offer(12)))
    return visit


def test_who_waits_sees_that_he_waits() -> None:
    seen = Visit().sees()
    assert seen[0] == "Waiting for others to play with …"
    assert seen[-1] == "[q] leave"


def test_the_ring_shows_who_is_what_to_us() -> None:
    visit = Visit("ann", "bob", "cyd", "dan")
    visit.draws("3 spades")
    assert visit.sees()[:4] == ["ann right neighbour", "bob you, 1 card", "cyd left neighbour", "dan"]
    assert "The others play …" in visit.sees()


def test_the_marker_is_at_who_offers(offered: Visit) -> None:
    seen = offered.sees()
    assert seen[:3] == ["> ann right neighbour", "bob you, 2 cards", "cyd left neighbour"]
    assert {"Card 1 of 12", "You are offered 12 cards: which one do you pick?"} < {*seen}


def test_who_is_out_or_gone_is_no_neighbour_any_more() -> None:
    visit = Visit("ann", "bob", "cyd", "dan")
    visit.draws("3 spades")
    visit.hears(Left(LEFT, "closed"), Joined(NEXT))
    assert visit.sees()[2:4] == ["cyd gone", "dan left neighbour"]
    visit.draws("3 hearts", "last_card")
    visit.hears(Received(NEXT, OK), Received(NEXT, OUT))
    assert visit.sees()[:4] == ["ann left and right", "bob you, 2 cards", "cyd gone", "dan out"]
    assert {"cyd is gone", "dan is out"} < {*visit.sees()}


def test_the_chosen_card_is_drawn_out_and_others_can_be_chosen(offered: Visit) -> None:
    backs = next(at for at, line in enumerate(offered.sees()) if line == "╭─╮")
    assert offered.sees()[backs + 1].startswith("│░│ ╭─╮ ╭─╮")
    for key, card in (("\x1b[C", 2), ("\x1bOC", 3), ("\x1b[D", 2), ("\x1bOD", 1), ("\x1b[D", 12), ("\x1b[C", 1)):
        assert offered.scene.press(key) is None
        assert f"Card {card} of 12" in offered.sees()
    for key, card in (("1", 1), ("2", 12), ("3", 3), ("0", 3), ("9", 9), ("\x7f", 9), ("1", 1)):
        assert offered.scene.press(key) is None
        assert f"Card {card} of 12" in offered.sees()
    assert offered.scene.press(ENTER) == Pick(0)


def test_a_card_that_was_picked_is_waited_for(offered: Visit) -> None:
    pick = offered.scene.press(ENTER)
    assert isinstance(pick, Pick)
    offered.hears(Submitted(pick), TimedOut())
    assert "Your pick is on its way …" in offered.sees()
    assert offered.scene.press(ENTER) is None
    assert "Enter does nothing now." in offered.sees()
    offered.hears(Received(RIGHT, Reply("ok", card=("K", "hearts"))))
    assert "You pick the king of hearts" in offered.sees()
    assert "You offer 3 cards to cyd …" in offered.sees()


def test_keys_that_mean_nothing_are_said_to(offered: Visit) -> None:
    for key, told in (("x", "'x' does nothing now."), ("\x1b[A", "That key does nothing now."), ("n", "'n' does")):
        assert offered.scene.press(key) is None
        assert any(line.startswith(told) for line in offered.sees())


def test_who_is_in_is_asked_before_he_leaves(offered: Visit) -> None:
    assert offered.scene.press("q") is None
    assert offered.sees()[-1] == "[q] leave all the same  [Esc] stay"
    assert offered.scene.press(ESCAPE) is None
    assert offered.scene.press("q") is None
    assert offered.scene.press("q") is TableAction.LEAVE
    assert Visit().scene.press("q") is TableAction.LEAVE


def test_a_finished_game_is_counted_and_another_one_may_begin() -> None:
    visit = Visit("ann", "bob", "cyd")
    visit.draws("joker maid", "last_card")
    visit.hears(Received(LEFT, OUT), Joined(NEXT), Received(NEXT, OUT))
    seen = visit.sees()
    assert {"You are left with the old maid: you have lost.", "Games: 1   Lost: 1", "The game is over."} < {*seen}
    assert seen[-1] == "[n/Enter] another game  [q] leave"
    assert visit.scene.press(ENTER) is TableAction.REJOIN
    visit.scene.sit(Visit().player)
    assert "Games: 1   Lost: 1" in visit.sees()
    visit.scene.on_ended("You have left the table.")
    assert visit.sees()[-1] == "Games: 1   Lost: 1"


def test_a_game_that_never_began_is_not_counted() -> None:
    visit = Visit()
    visit.hears(Received(TABLE, Reply("error", "oldmaid-3.8: taken")))
    assert visit.sees() == [
        "Waiting for others to play with …",
        "The game has ended early: the table does not let us in: oldmaid-3.8:",
        "taken.",
        "Games: 0   Lost: 0",
        "[q] leave",
    ]


def test_who_is_out_watches_the_others() -> None:
    visit = Visit("ann", "bob", "cyd")
    visit.draws("3 spades", "last_card")
    visit.hears(Received(LEFT, OK), Received(LEFT, Pick(0)), Received(TABLE, OK), TimedOut())
    visit.player.on(TimedOut(), 9.0)
    visit.hears(Received(TABLE, Standing(("ann", "cyd"), ("bob",))))
    seen = visit.sees()
    assert "bob you, out" in seen
    assert "You are out, and the others play on …" in seen
    assert {"cyd picks the 3 of spades from you", "You have no cards any more", "You are number 1"} < {*seen}
    assert visit.scene.press("q") is TableAction.LEAVE


@pytest.mark.parametrize(
    ("news", "told"),
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
        (OfferWithdrawn(), "Who offered you his hand is gone: it is your turn"),
        (CardPicked(JOKER), "You pick the old maid"),
        (CardGiven(JOKER, "an\x1bn"), "an?n picks the old maid from you"),
        (NeighbourSkipped("ann", "gone"), "ann is gone"),
        (HandEmptied(), "You have no cards any more"),
        (PlaceAnnounced(2), "You are number 2"),
        (OfferMade("ann", 3), ""),
        (StandingChanged(Standing((), ())), ""),
        (PlayerFinished(PlayerResult("out", 1)), ""),
    ],
)
def test_what_happens_is_told_in_a_line(news: PlayerEvent, told: str) -> None:
    assert event_text(news) == told


def test_every_end_is_told() -> None:
    assert ending_text(PlayerResult("out", 2)) == "The game is over, and you have not lost. You are number 2."
    assert ending_text(PlayerResult("out")) == "The game is over, and you have not lost."
    assert ending_text(PlayerResult("lost", 4)) == "You are left with the old maid: you have lost."
    assert ending_text(PlayerResult("ended", None, "why")) == "The game has ended early: why."


def test_every_card_has_a_face_and_a_name_of_its_own() -> None:
    assert (
        len({card_face(card).name for card in range(len(WIRE_CARDS))})
        == len({cards_text([card]) for card in range(len(WIRE_CARDS))})
        == 53
    )
    assert cards_text([0, 33, JOKER]) == "2♠ 10♣ joker"


@pytest.mark.parametrize("width", [20, 30, 40, 72])
@pytest.mark.parametrize("height", [8, 16, 24, 40])
def test_every_terminal_shows_what_may_be_done(offered: Visit, width: int, height: int) -> None:
    seen = offered.sees(width, height)
    assert len(seen) <= height - 1
    assert "leave" in " ".join(seen[-3:])
