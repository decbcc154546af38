"""Hidden hole cards do not affect a single byte of the responses to other viewers."""

import asyncio
import tomllib
from collections.abc import Sequence
from itertools import product
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from croupier.core.dealer import Dealer, ScriptedDealer, derive_server_seed
from croupier.core.session import HandFinished
from croupier.http.auth import QUICK_HASHER, Authenticator
from croupier.http.holdem_app import HoldemApp
from croupier.net.event_loop import loop_factory
from croupier.rooms.holdem.cards import CARDS
from croupier.rooms.holdem.house import House
from croupier.rooms.holdem.settings import Settings
from tests.http.service_fixture import InProcessService
from tests.net.raw_client import Run
from tests.sampling import example_count, sampled

USERS = ("ann", "bob", "cid")
DIALECTS = pytest.mark.parametrize("dialect", ["readme", "hspe-go"])


class ScriptedService(InProcessService):
    """A service with a given deck."""

    def __init__(self, deck: Sequence[int], dialect: Any) -> None:
        super().__init__(dialect)
        self.house = House(Settings(dialect=dialect), self._dealer(deck), derive_server_seed(1, "guids", 0))
        self.guard = Authenticator(clock=self.clock, hasher=QUICK_HASHER)
        self.service = HoldemApp(self.house, self.guard, clock=self.clock)

    @staticmethod
    def _dealer(deck: Sequence[int]) -> Any:
        def dealer(hand: int) -> Dealer:
            return ScriptedDealer([tuple(deck)], derive_server_seed(1, "holdem", hand))

        return dealer


async def responses_to(
    web: InProcessService, viewer: str | None, acts: Sequence[tuple[int, int]]
) -> list[tuple[int, dict[str, str], bytes]]:
    """All responses to a viewer during a hand in which these actions are taken."""
    await web.register(*USERS)
    game = await web.game()
    responses = []
    finished: list[HandFinished] = []
    web.service.house_service.observe(
        lambda event, effects, now: finished.extend(e for e in effects if isinstance(e, HandFinished))
    )
    users = {web.house.guid_of(user): user for user in USERS}
    for user in USERS[:2]:
        await web.ask("POST", f"/games/{game}/players/", user)
    for action, amount in acts:
        for path in (f"/games/{game}", "/games/", f"/games/{game}?wait=0", f"/games/{game}/hands/1.phh"):
            got = await web.ask("GET", path, viewer)
            responses.append((got.status, got.headers, got.body))
        guid = (await web.turn(game))["playerID"]
        if users[guid] == viewer:
            action, amount = 1, 20  # the same in both runs  # noqa: PLW2901
        got = await web.act(game, users[guid], guid, action, amount)
        responses.append((got.status, got.headers, got.body))
        if finished:
            break  # the next hand has other cards
    return responses


# Heads-up, Ann sat down first and has the button and the small blind: she is dealt the first and third card.
HIDDEN = {"ann": (1, 3), "bob": (0, 2), None: (0, 1, 2, 3), "cid": (0, 1, 2, 3)}
"""The positions in the deck of the cards that a viewer may not know."""


@pytest.mark.parametrize(("viewer", "dialect"), sampled(product(HIDDEN, ("readme", "hspe-go")), 3))
@given(deck=st.permutations(range(52)), data=st.data())
@settings(max_examples=example_count(15))
def test_hidden_cards_do_not_affect_responses_to_others(
    viewer: str | None, dialect: str, deck: list[int], data: Any
) -> None:
    """Two houses that differ only in what a viewer may not know send the same bytes."""
    acts = data.draw(st.lists(st.tuples(st.just(1), st.sampled_from([0, 10, 20, 40, 60])), min_size=1, max_size=4))
    other = list(deck)
    positions = [*HIDDEN[viewer], *range(9, 52)]
    shuffled = data.draw(st.permutations([deck[position] for position in positions]))
    for position, card in zip(positions, shuffled, strict=True):
        other[position] = card

    async def main() -> None:
        responses = []
        for cards in (deck, other):
            with ScriptedService(cards, dialect) as web:
                acts_before_the_end = acts[:4]  # too few for a showdown
                responses.append(await responses_to(web, viewer, acts_before_the_end))
        assert responses[0] == responses[1]

    with asyncio.Runner(loop_factory=loop_factory()) as runner:
        runner.run(main())


@DIALECTS
def test_players_see_only_their_own_cards(run: Run, dialect: str) -> None:
    async def main() -> None:
        deck = [CARDS.index(card) for card in ("AS", "2C", "KS", "7D", "3H", "4H", "5H", "6H", "8H")]
        with ScriptedService(deck, dialect) as web:
            await web.register(*USERS)
            game = await web.game()
            for user in USERS:
                await web.ask("POST", f"/games/{game}/players/", user)
            nothing: Any = [] if dialect == "readme" else None
            for viewer, hole in (("ann", ["AS", "KS"]), ("bob", ["2C", "7D"]), (None, nothing)):
                got = await web.ask("GET", f"/games/{game}", viewer)
                assert got.json["cards"]["hole"] == hole
                assert (await web.ask("GET", "/games/", viewer)).json[0]["cards"]["hole"] == hole
            assert (await web.ask("GET", "/games/", "cid")).json[0]["cards"]["hole"] == nothing

    run(main())


@DIALECTS
def test_history_contains_shown_cards_and_the_viewers_own(run: Run, dialect: str) -> None:
    async def main() -> None:
        deck = [CARDS.index(card) for card in ("AS", "2C", "KS", "7D", "3H", "4H", "5H", "6H", "8H")]
        with ScriptedService(deck, dialect) as web:
            await web.register(*USERS)
            users = {web.house.guid_of(user): user for user in USERS}
            game = await web.game()
            for user in USERS[:2]:
                await web.ask("POST", f"/games/{game}/players/", user)
            path = f"/games/{game}/hands"
            assert (await web.ask("GET", f"{path}/1.phh")).status == 404, "the hand is not over"
            await web.act(game, "ann", web.house.guid_of("ann"), 0)
            for viewer, visible in (("ann", {"AsKs"}), ("bob", {"2c7d"}), ("cid", set()), (None, set())):
                got = await web.ask("GET", f"{path}/1.phh", viewer)
                assert (got.status, got.headers["content-type"]) == (200, "application/toml")
                assert got.headers["vary"] == "Authorization"
                history = tomllib.loads(got.text)
                dealt = {action.split()[3] for action in history["actions"] if action.startswith("d dh")}
                assert dealt == visible | ({"????"} if len(visible) < 2 else set())
                assert history["players"] in (["ann", "bob"], ["bob", "ann"])
                assert (await web.ask("HEAD", f"{path}/1.phh", viewer)).headers == got.headers
            while (await web.ask("GET", f"{path}/2.phh")).status != 200:
                await web.check_or_call(game, users)
            history = tomllib.loads((await web.ask("GET", f"{path}/2.phh")).text)
            dealt = {action.split()[3] for action in history["actions"] if action.startswith("d dh")}
            assert dealt == {"AsKs", "2c7d"}, "there was a showdown"
            for number in ("3", "0", "-1", "x", "٣", "9" * 5000, "1.phh"):
                got = await web.ask("GET", f"{path}/{number}.phh")
                assert (got.status, got.text[:12]) == (404, "holdem-9.7: ")
            got = await web.ask("GET", "/games/x/hands/1.phh")
            assert (got.status, got.text[:12]) == (404, "holdem-8.4: ")

    run(main())
