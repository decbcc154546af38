"""What a person sees of a ring of Old Maid, drawn without a terminal from what his player hears."""

from typing import Any

import pytest
from rich.console import Console

from croupier.core.dealer import Fair, derive
from croupier.core.session import Chose, Event, Joined, Left, Peer, Rang, Said, Tell
from croupier.rooms.oldmaid.cards import NUMBERS, WIRES
from croupier.rooms.oldmaid.player import TABLE, Options, Player
from croupier.rooms.oldmaid.ring.player_events import (
    Discarded,
    Drew,
    Gave,
    Kept,
    News,
    Offered,
    Offering,
    Over,
    Passed,
    Picked,
    Result,
    Rid,
    Sat,
    Stood,
    Withdrawn,
    Won,
)
from croupier.rooms.oldmaid.wire import OK, OUT, Offer, Pick, Reply, Standing, YourTurn
from croupier.tui.keys import ENTER, ESCAPE
from croupier.tui.oldmaid.scene import OldMaidScene, ending, story
from croupier.tui.oldmaid.table_view import face, spelt
from croupier.tui.table_action import Wish

RIGHT: Peer = 1
LEFT: Peer = -1
NEXT: Peer = -2
ACES = NUMBERS["A", "spades"], NUMBERS["A", "clubs"]
JOKER = NUMBERS["joker", "maid"]
NOT_TAKEN = "The table does not take the ace of spades and the ace of clubs"


class Visit:
    """Bob, who sits between Ann and Cyd, and what he sees."""

    def __init__(self, *nicks: str) -> None:
        self.player = Player(Options("bob", pause=0.0, retry_seconds=0.0), Fair(derive(1, "oldmaid", 1)).luck)
        self.scene = OldMaidScene("table:9898")
        self.scene.sit(self.player)
        self.hears(Joined(TABLE))
        if nicks:
            listed = tuple((("192.0.2.1", 4001 + at), nick) for at, nick in enumerate(nicks))
            self.hears(Said(TABLE, Reply("ok", players=listed)), Joined(RIGHT), Joined(LEFT))

    def hears(self, *events: Event[Any]) -> None:
        for event in events:
            for effect in self.player.on(event, 0.0):
                if isinstance(effect, Tell):
                    assert not isinstance(effect.news, Exception | Left)
                    self.scene.heard(effect.news)

    def draws(self, card: str, result: str = "ok") -> None:
        value, suit = card.split()
        self.hears(Said(RIGHT, YourTurn()), Said(TABLE, Reply(result, card=(value, suit))))
        if result == "ok":
            self.hears(Said(LEFT, OK))

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
    visit.hears(Said(RIGHT, Offer(12)))
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
    visit.hears(Said(NEXT, OK), Said(NEXT, OUT))
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
    offered.hears(Chose(pick), Rang())
    assert "Your pick is on its way …" in offered.sees()
    assert offered.scene.press(ENTER) is None
    assert "Enter does nothing now." in offered.sees()
    offered.hears(Said(RIGHT, Reply("ok", card=("K", "hearts"))))
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
    assert offered.scene.press("q") is Wish.LEAVE
    assert Visit().scene.press("q") is Wish.LEAVE


def test_a_finished_game_is_counted_and_another_one_may_begin() -> None:
    visit = Visit("ann", "bob", "cyd")
    visit.draws("joker maid", "last_card")
    visit.hears(Said(LEFT, OUT), Joined(NEXT), Said(NEXT, OUT))
    seen = visit.sees()
    assert {"You are left with the old maid: you have lost.", "Games: 1   Lost: 1", "The game is over."} < {*seen}
    assert seen[-1] == "[n/Enter] another game  [q] leave"
    assert visit.scene.press(ENTER) is Wish.AGAIN
    visit.scene.sit(Visit().player)
    assert "Games: 1   Lost: 1" in visit.sees()
    visit.scene.ended("You have left the table.")
    assert visit.sees()[-1] == "Games: 1   Lost: 1"


def test_a_game_that_never_began_is_not_counted() -> None:
    visit = Visit()
    visit.hears(Said(TABLE, Reply("error", "oldmaid-3.8: taken")))
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
    visit.hears(Said(LEFT, OK), Said(LEFT, Pick(0)), Said(TABLE, OK), Rang())
    visit.player.on(Rang(), 9.0)
    visit.hears(Said(TABLE, Standing(("ann", "cyd"), ("bob",))))
    seen = visit.sees()
    assert "bob you, out" in seen
    assert "You are out, and the others play on …" in seen
    assert {"cyd picks the 3 of spades from you", "You have no cards any more", "You are number 1"} < {*seen}
    assert visit.scene.press("q") is Wish.LEAVE


@pytest.mark.parametrize(
    ("news", "told"),
    [
        (Sat(((("192.0.2.1", 1), "ann"), (("192.0.2.1", 2), "bob")), 1), "2 players; you are number 2"),
        (Drew(JOKER, True), "You draw the last card, the old maid"),
        (Drew(NUMBERS["10", "hearts"], False), "You draw the 10 of hearts"),
        (Discarded(*ACES), "You throw away the ace of spades and the ace of clubs"),
        (Kept(*ACES, "no\x1b[m"), "The table does not take the ace of spades and the ace of clubs: no?[m"),
        (
            Kept(*ACES, "oldmaid-6.9: x"),
            "The table does not take the ace of spades and the ace of clubs: the game is over",
        ),
        (Offered(0), "You are offered an empty hand: it is your turn"),
        (Offered(3), ""),
        (Withdrawn(), "Who offered you his hand is gone: it is your turn"),
        (Picked(JOKER), "You pick the old maid"),
        (Gave(JOKER, "an\x1bn"), "an?n picks the old maid from you"),
        (Passed("ann", "gone"), "ann is gone"),
        (Rid(), "You have no cards any more"),
        (Won(2), "You are number 2"),
        (Offering("ann", 3), ""),
        (Stood(Standing((), ())), ""),
        (Over(Result("out", 1)), ""),
    ],
)
def test_what_happens_is_told_in_a_line(news: News, told: str) -> None:
    assert story(news) == told


def test_every_end_is_told() -> None:
    assert ending(Result("out", 2)) == "The game is over, and you have not lost. You are number 2."
    assert ending(Result("out")) == "The game is over, and you have not lost."
    assert ending(Result("lost", 4)) == "You are left with the old maid: you have lost."
    assert ending(Result("ended", None, "why")) == "The game has ended early: why."


def test_every_card_has_a_face_and_a_name_of_its_own() -> None:
    assert (
        len({face(card).name for card in range(len(WIRES))}) == len({spelt([card]) for card in range(len(WIRES))}) == 53
    )
    assert spelt([0, 33, JOKER]) == "2♠ 10♣ joker"


@pytest.mark.parametrize("width", [20, 30, 40, 72])
@pytest.mark.parametrize("height", [8, 16, 24, 40])
def test_every_terminal_shows_what_may_be_done(offered: Visit, width: int, height: int) -> None:
    seen = offered.sees(width, height)
    assert len(seen) <= height - 1
    assert "leave" in " ".join(seen[-3:])
