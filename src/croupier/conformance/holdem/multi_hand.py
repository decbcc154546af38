"""Cases for servers that take a hand or two to come to their point, whatever the cards are."""

from collections.abc import Mapping, Sequence
from typing import Final

from croupier.conformance.holdem.cases import Deed
from croupier.conformance.holdem.context import NOBODY, Visit
from croupier.conformance.holdem.schema import every
from croupier.conformance.holdem.tolerated import Unshown
from croupier.conformance.results import Outcome
from croupier.rooms.holdem.cards import NUMBERS
from croupier.rooms.holdem.wire import BET, FOLD, Game, Player

SEATS: Final = 10
POLLS: Final = 20

GAME: Final = 10_240
LIST: Final = 131_072
"""So many bytes the published client reads of one Game, and of all of them."""


def bet(chips: int) -> Mapping[str, int]:
    """A bet of so many chips."""
    return {"action": BET, "betAmount": chips}


async def a_game_to_sit_down_at(visit: Visit) -> None:
    """There is always a game with a free seat."""
    if not any(len(game.table) < SEATS for game in await visit.games()):
        visit.departs("holdem-3.2", "a game with a free seat", "none in the list")


async def often(visit: Visit) -> None:
    """Whoever looks as often as he likes is answered."""
    game = await visit.seat("ann")
    for _ in range(POLLS):
        answer = await visit.ask("ann", "GET", f"/games/{game}")
        if answer.status != 200:
            visit.departs("holdem-9.10", "status 200", answer.text, Outcome.CHOICE, got=answer.shown())
            return


async def the_next_hand(visit: Visit) -> None:
    """The next hand begins when the last one has ended."""
    game = await visit.seat("ann", "bob")
    shown = await visit.sees(NOBODY, game)
    await visit.act(visit.turn(shown), game, {"action": FOLD})
    if not (await visit.sees(NOBODY, game)).turn.player_id:
        visit.departs("holdem-5.18", "the next hand in the same moment", "a pause", Outcome.CHOICE)


async def _poor(visit: Visit, left: int) -> tuple[str, str]:
    """Two play, and one loses all but so many chips; a third has sat down meanwhile. The game, and who is poor."""
    game = await visit.seat("ann", "bob")
    await visit.enrol("cid")
    shown = await visit.sees(NOBODY, game)
    poor = visit.turn(shown)
    mine = _player(shown, shown.turn.player_id)
    answer = await visit.act(poor, game, bet(mine.wealth - left))
    visit.joined(await visit.ask("cid", "POST", f"/games/{game}/players/"))
    shown = await visit.sees(NOBODY, game)
    if answer.status >= 300 or visit.turn(shown) in {"", poor}:
        raise Unshown("nobody can be made poor: a large bet is not accepted")
    other = _player(shown, shown.turn.player_id)
    await visit.act(visit.turn(shown), game, bet(other.wealth))
    await visit.act(poor, game, {"action": FOLD})
    shown = await visit.sees(NOBODY, game)
    if len(shown.table) != 3 or sum(_all(one) == left for one in shown.table) != 1:
        raise Unshown("nobody can be made poor: no next hand with three players, and one of them poor")
    return game, poor


async def a_short_all_in(visit: Visit) -> None:
    """Who has acted may not raise again when an all-in has raised by less than a full raise."""
    game, poor = await _poor(visit, 2000)
    raiser = ""
    short = False
    for _ in range(8):
        shown = await visit.sees(NOBODY, game)
        role, turn = visit.turn(shown), shown.turn
        mine = _player(shown, turn.player_id)
        if shown.cards.flop or not role:
            break
        if role == poor:
            chips = mine.wealth if raiser else turn.bet_to_player - turn.bet_so_far
            short = bool(raiser)
        elif not raiser:
            raiser, chips = role, 1400 - turn.bet_so_far
        elif role == raiser and short:
            await _barred(visit, game, role, shown)
            return
        else:
            chips = turn.bet_to_player - turn.bet_so_far
        answer = await visit.act(role, game, bet(chips))
        if answer.status >= 300:
            visit.departs("holdem-6.9", "status 201", answer.text, got=answer.shown())
            return
    raise Unshown("the one who raised was not asked again")


async def _barred(visit: Visit, game: str, role: str, shown: Game) -> None:
    turn = shown.turn
    if turn.bet_to_player != 2000:
        visit.departs("holdem-6.9", "bet_to_player 2000: a short all-in has to be called", f"{turn.bet_to_player}")
        return
    answer = await visit.act(role, game, bet(turn.bet_to_player - turn.bet_so_far + 3000))
    after = await visit.sees(NOBODY, game)
    one = next((one for one in after.table if one.player_id == turn.player_id), None)
    if answer.status >= 300 or one is None or one.state != "folded":
        found = "the raise is taken" if answer.status < 300 else answer.text
        visit.departs("holdem-4.12", "a fold: the betting was not opened again", found)


async def a_short_blind(visit: Visit) -> None:
    """Where the big blind is more than a player has, the others have to match all of it."""
    game, poor = await _poor(visit, 5)
    shown = await visit.sees(NOBODY, game)
    one = next(one for one in shown.table if one.player_id == visit.player(poor, game))
    if one.small_blind or not one.bet_so_far:
        raise Unshown("the poor one has not the big blind")
    if shown.turn.bet_to_player != 20:
        visit.departs("holdem-6.10", "bet_to_player 20", f"{shown.turn.bet_to_player}")
    if (one.wealth, one.bet_so_far) != (0, 5):
        visit.departs("holdem-6.10", "0 behind and a bet of 5", f"{one.wealth} and {one.bet_so_far}")


async def winners(visit: Visit) -> None:
    """Who won at the showdown is told with five cards, and nobody where there was none."""
    game = await visit.seat("ann", "bob")
    shown = await visit.sees(NOBODY, game)
    await visit.act(visit.turn(shown), game, {"action": FOLD})
    shown = await visit.sees(NOBODY, game)
    if shown.last_winners:
        visit.departs("holdem-7.8", "no last_winners behind a hand without a showdown", f"{shown.last_winners}")
    for _ in range(9):
        chips = shown.turn.bet_to_player - shown.turn.bet_so_far
        await visit.act(visit.turn(shown), game, bet(chips))
        shown = await visit.sees(NOBODY, game)
        if shown.last_winners:
            break
    told = shown.last_winners or ()
    if not told or any(len({*one.hand} & NUMBERS.keys()) != 5 for one in told):
        visit.departs("holdem-7.8", "the winners of the showdown with their best five cards", f"{told}")
    elif {one.player_id for one in told} - {place.player for place in visit.places}:
        visit.departs("holdem-7.8", "winners who play at this table", f"{told}")


async def in_one_piece(visit: Visit) -> None:
    """What is shown fits into the reader of the published client."""
    game = await visit.seat("ann", "bob")
    for path, most in ((f"/games/{game}", GAME), ("/games/", LIST)):
        answer = await visit.ask("ann", "GET", path)
        if len(answer.body) > most:
            visit.departs("holdem-7.10", f"{most} bytes at the most", f"{len(answer.body)}")


async def last_winners_everywhere(visit: Visit) -> None:
    """Every Game has the key last_winners."""
    await visit.seat("ann", "bob")
    answer = await visit.ask(NOBODY, "GET", "/games/")
    visit.slips(every(answer.body, visit.dialect).slips)


def _player(shown: Game, player: str) -> Player:
    """A player of the table. Raises Unshown where it is nobody's turn."""
    for one in shown.table:
        if one.player_id == player:
            return one
    raise Unshown("it is nobody's turn, although two sit at the table")


def _all(one: Player) -> int:
    return one.wealth + one.bet_so_far


STORIES: Final[Sequence[Deed]] = (
    Deed("holdem-3.2", "a-game-to-sit-down-at", "There is always a game with a free seat", a_game_to_sit_down_at),
    Deed("holdem-5.18", "the-next-hand", "The next hand begins at once", the_next_hand),
    Deed("holdem-6.9", "a-short-all-in", "A short all-in opens no betting again", a_short_all_in, ("holdem-4.12",)),
    Deed("holdem-6.10", "a-short-blind", "A short blind does not make the bet smaller", a_short_blind),
    Deed("holdem-9.10", "looking-often", "Who looks often is answered", often),
)  # fmt: skip
"""What these cases are."""

HSPE_GO: Final[Sequence[Deed]] = (
    Deed("holdem-7.7", "last-winners-everywhere", "Every Game has the key last_winners", last_winners_everywhere),
    Deed("holdem-7.8", "winners", "The last winners are told with five cards", winners),
    Deed("holdem-7.10", "in-one-piece", "What is shown fits into the reader of the published client", in_one_piece),
)
"""The same for dialect hspe-go."""
