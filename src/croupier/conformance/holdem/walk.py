"""A walk: users play one game with random valid and invalid acts, and a referee checks every hand."""

import asyncio
from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from random import Random
from typing import Final, NamedTuple

from msgspec.structs import replace

from croupier.conformance.conversation import DialogueLine
from croupier.conformance.holdem.context import HoldemContext
from croupier.conformance.holdem.deviations import CaseAborted, HttpDeviation
from croupier.conformance.holdem.endpoint import FOLD, bet
from croupier.conformance.holdem.expiries import ShownExpiries
from croupier.conformance.holdem.steps import StepChoice, WalkStep, random_step, resolve_amount
from croupier.conformance.holdem.walk_clauses import FORM_CLAUSES
from croupier.conformance.results import Outcome
from croupier.core.errors import Violation
from croupier.core.http_transcript import NOBODY
from croupier.rooms.holdem.cards import card_names
from croupier.rooms.holdem.engine.legal import Legal
from croupier.rooms.holdem.observed.hand import ObservedHand
from croupier.rooms.holdem.referee import PUBLIC, Referee
from croupier.rooms.holdem.wire import ACTION_BET, Act, Game, HoldemRequest, Join, Leave

MAX_ACTS: Final = 45

POLL_INTERVAL_SECONDS: Final = 0.05
MAX_POLLS: Final = 60
"""Limits of polling for the next hand, since a server may pause between hands."""

ROLES: Final = ("ann", "bob", "cid", "dan", "eve", "fay")


class DeviationTrace(NamedTuple):
    """A deviation with the dialogue up to it, and the steps that led to it; the first one seats the players."""

    deviation: HttpDeviation
    lines: Sequence[DialogueLine]
    steps: Sequence[WalkStep]


class Walk:
    """One walk in a game of its own: random steps, or the steps of `script`.

    The game is read after each step; a hasty walk reads it only after all-ins, and where the rules do not say who acts
    next.
    """

    def __init__(
        self,
        context: HoldemContext,
        rng: Random,
        players: int,
        script: Sequence[WalkStep] | None = None,
        *,
        choose: StepChoice = random_step,
        max_acts: int = MAX_ACTS,
        is_hasty: bool = False,
    ) -> None:
        self._is_hasty = is_hasty
        self._choose = choose
        self._max_acts = max_acts
        self._checked_responses = 0  # how many responses have been searched for cards of others
        self.context = context
        self.steps: list[WalkStep] = []
        self.step_starts: list[int] = []  # the number of dialogue lines before each step
        self._script = script
        self._rng = rng
        self._roles = ROLES[: min(players, context.server.settings.seats)]
        self._referee = Referee(context.server.settings.stakes, context.server.settings.stack)
        self._game = ""
        self._hands = 0
        self.observed_hands: list[ObservedHand] = []  # those whose hole cards were read at their beginning
        self._expiries = ShownExpiries()

    def judged_counts(self) -> Counter[str]:
        """Return how often each clause was judged."""
        looks = Counter(dict.fromkeys(FORM_CLAUSES, 1)) if self._referee.hand_count else Counter()
        return self._referee.clause_counts + looks

    def traces(self) -> Sequence[DeviationTrace]:
        """Return the deviations, each with the steps that led to it."""
        lines, players = self.context.lines, len(self._roles)
        return [
            DeviationTrace(
                deviation,
                lines[: deviation.line_count],
                [WalkStep("seat", players), *self.steps[: bisect_left(self.step_starts, deviation.line_count)]],
            )
            for deviation in self.context.deviations
        ]

    async def play(self) -> None:
        """Play until all steps are done, or a deviation makes it impossible to follow the hand."""
        context = self.context
        await context.register(*self._roles)
        self._game = await context.seat(*self._roles[:2])
        for role in self._roles[:2]:
            self._report(context.player_id(role, self._game), Join(role, self._game), 201)
        await self._look()
        for role in self._roles[2:]:
            await self._join(role)
        for number in range(self._max_acts if self._script is None else len(self._script)):
            if self._referee.is_lost or not await self._ready():
                return
            self.steps.append(self._random_step() if self._script is None else self._script[number])
            self.step_starts.append(len(context.lines))
            await self._take_step(self.steps[-1])
        if self._script is not None and not self._referee.is_lost and await self._ready():
            for role in self._roles_in_hand():
                await self._look(role)

    # Reading the game.

    async def _look(self, role: str = NOBODY) -> Game:
        context = self.context
        game = await context.get_game(role, self._game)
        viewer = PUBLIC if role == NOBODY else context.player_id(role, self._game)
        for violation in self._referee.on_shown(viewer, game):
            self.context.add_violation(violation)
        self._check_hidden_cards()
        if (changed := self._expiries.check(self._referee, game)) is not None:
            self.context.add_violation(changed)
        return game

    def _check_hidden_cards(self) -> None:
        """Search the answers of the first hand, while it runs, for hole cards of others."""
        observed = self._referee.game
        if observed is not None and self._hands == 1 and self._referee.player_to_act():
            hands = {role: observed.holes.get(self.context.player_id(role, self._game), ()) for role in self._roles}
            shown = {role: card_names(hole) for role, hole in hands.items()}
            self.context.check_hidden_cards(shown, self._checked_responses, card_names(observed.board))
        self._checked_responses = len(self.context.responses)

    def _report(self, player: str, request: HoldemRequest, status: int) -> None:
        """Report a request of a player and the status of its response to the referee."""
        for violation in self._referee.on_exchange(player, request, status):
            self.context.add_violation(violation)

    async def _ready(self) -> bool:
        """Wait until a player has the turn; return False if the game cannot be followed.

        All players read their cards once in each hand.
        """
        for _ in range(MAX_POLLS):
            if self._referee.player_to_act():  # the game was read after the last step
                break
            game_state = await self._look()
            if self._referee.is_lost:
                return False
            if self._referee.player_to_act():
                break
            if not game_state.turn.player_id and len(game_state.table) < 2:
                await self._reseat()
            if not self._referee.player_to_act():
                await asyncio.sleep(POLL_INTERVAL_SECONDS)
        else:
            self.context.add_violation(Violation("holdem-6.1", "no hand", "a hand: two players sit at the table"))
            return False
        if self._hands != self._referee.hand_count:
            self._hands = self._referee.hand_count
            await self._reseat()
            for role in self._roles_in_hand():
                await self._look(role)
            if self._referee.game is not None:
                self.observed_hands.append(self._referee.game)
        return not self._referee.is_lost

    async def _reseat(self) -> None:
        """Let all users who are no longer at the table join again."""
        context = self.context
        shown = await context.get_game(NOBODY, self._game)
        observed = self._referee.game
        known = {player.player_id for player in shown.table} | {*self._referee.seated_players}
        known |= {*observed.players} if observed is not None else set()
        for role in self._roles:
            if not context.has_seat(role, self._game) or context.player_id(role, self._game) not in known:
                await self._join(role)

    def _roles_in_hand(self) -> Sequence[str]:
        observed_hand = self._referee.game
        players = () if observed_hand is None else observed_hand.players
        return [role for role in self._roles if self.context.player_id(role, self._game) in players]

    # Acting.

    async def _join(self, role: str) -> None:
        context = self.context
        response = await context.join(role, self._game)
        self._report(context.player_id(role, self._game), Join(role, self._game), response.status)
        await self._look()

    def _options_to_act(self) -> tuple[Legal, int]:
        """Return what the player to act may do, and their stack."""
        observed_hand = self._referee.game
        assert observed_hand is not None, "a turn in no hand"
        return observed_hand.hand.legal, observed_hand.hand.stacks[
            observed_hand.players.index(self._referee.player_to_act())
        ]

    def _roles_from_turn(self) -> Sequence[str]:
        """Return the seated roles, beginning with the one to act."""
        player = self._referee.player_to_act()
        acting_role = next(role for role in self._roles if self.context.player_id(role, self._game) == player)
        return [
            acting_role,
            *(role for role in self._roles if role != acting_role and self.context.has_seat(role, self._game)),
        ]

    def _random_step(self) -> WalkStep:
        return self._choose(self._rng, *self._options_to_act(), len(self._roles_from_turn()))

    async def _take_step(self, step: WalkStep) -> None:
        seated = self._roles_from_turn()
        role = seated[step.seat_offset % len(seated)]
        match step.kind:
            case "garbage":
                await self._send_malformed_act(role, step.body)
            case "leave" if not self._leaves_open_bet(role):
                await self._leave(role)
            case "act":
                await self._act(
                    role,
                    step.action,
                    resolve_amount(step.chips, *self._options_to_act()),
                    looks=step.is_followed_by_look,
                )
            case _:
                pass  # the players have joined; nobody leaves

    async def _act(self, role: str, action: int, chips: int, *, looks: bool) -> None:
        context = self.context
        player = context.player_id(role, self._game)
        is_all_in = chips >= self._options_to_act()[1]
        response = await context.act(role, self._game, bet(chips) if action == ACTION_BET else FOLD)
        if response.status >= 300:
            await self._look()  # a wrong turn shows here, if the last look was left out
        self._report(player, Act(role, self._game, player, action, chips), response.status)
        if 200 <= response.status < 300 and response.status != 201:
            context.add_status_deviation("holdem-4.1", 201, response)
        if not self._is_hasty or is_all_in or self._referee.player_to_act() is None:
            await self._look()
        if looks:
            await self._look(role)

    async def _send_malformed_act(self, role: str, body: bytes) -> None:
        """Send a malformed act between two looks at the game: what is wrong only at the second one has come from it."""
        context = self.context
        wrong_before = await self._wrong_at_look()
        response = await context.act(role, self._game, body)
        if 200 <= response.status < 300 or response.status >= 500:
            context.add_status_deviation("holdem-4.4", 400, response, Outcome.FAIL)
            raise CaseAborted
        wrong = await self._wrong_at_look()
        if wrong and not wrong_before:
            context.deviations = [one for one in context.deviations if one not in wrong]
            context.deviations.append(replace(wrong[0], clause="holdem-4.4"))
            raise CaseAborted

    async def _wrong_at_look(self) -> Sequence[HttpDeviation]:
        """Look at the game; return the failures that this has shown."""
        known = len(self.context.deviations)
        await self._look()
        return [one for one in self.context.deviations[known:] if one.outcome is Outcome.FAIL]

    def _leaves_open_bet(self, role: str) -> bool:
        """Whether a role has made the highest bet, and at most one other player can still bet.

        The document leaves open whether that player owes the bet of somebody who has left (holdem-3.11).
        """
        observed, player = self._referee.game, self.context.player_id(role, self._game)
        if observed is None or player not in observed.players:
            return False
        hand, own = observed.hand, observed.players.index(player)
        others = [seat for seat, out in enumerate(hand.folded) if not out and seat != own]
        is_highest = all(hand.bets[seat] < hand.bets[own] for seat in others)
        return is_highest and sum(hand.stacks[seat] > 0 for seat in others) < 2

    async def _leave(self, role: str) -> None:
        context = self.context
        player = context.player_id(role, self._game)
        response = await context.leave(role, self._game)
        context.require_success(response, "holdem-3.10", 200)
        self._report(player, Leave(role, self._game, player), response.status)
        await self._look()
