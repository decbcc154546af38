"""Replays transcripts against any hold'em server: sends their requests, and has the responses compared.

The head of a transcript says what a replay has to know: `users: new` (it is about users, so that none is used again),
`button: first` or `any` (whether the player who sits down first must have the first button), `redirects: reported`.
"""

from collections import Counter
from typing import Final

from croupier.conformance.deviations import NotReached
from croupier.conformance.holdem.chips import scale_text
from croupier.conformance.holdem.context import NO_FREE_GAME, HoldemContext
from croupier.conformance.holdem.deviations import CaseAborted, OtherSettings
from croupier.conformance.holdem.endpoint import FOLD, ServerUser, bet
from croupier.conformance.holdem.replay_checks import ReplayChecks, is_list
from croupier.conformance.holdem.replay_tables import (
    GAME_NAME_PATTERN,
    JOIN_GAME_REQUEST,
    MEMBERSHIP_PATTERN,
    NEW_SERVER_GAMES_PATTERN,
    OTHER_JOIN_PATTERN,
)
from croupier.conformance.holdem.table_settings import TableSettings
from croupier.conformance.results import Outcome
from croupier.core.basic_auth import decode_user_pass, encode_user_pass
from croupier.core.http_transcript import (
    NOBODY,
    ExpectedResponse,
    TranscriptRequest,
    parse_expected_response,
    parse_request,
)
from croupier.core.transcript import Transcript
from croupier.http.wire import ReceivedResponse, path_segments
from croupier.rooms.holdem.wire import Game

MAX_SEATINGS: Final = 8
"""In how many games players sit down until the first button is where it is in the transcript."""

SEATED: Final = 201
HSPE_GO_SEATED: Final = 202
"""The status of a player who has got a seat, and the one in the dialect hspe-go (3.5, 7.2)."""

MIN_STRADDLED_PLAYERS: Final = 3
"""Two players have no straddle (holdem-6.17)."""

LONG_NAME_CHARS: Final = 50
"""User names at least this long test a limit of length: their substitute has the same length."""

BUTTON_ELSEWHERE: Final = "the player who sits down first does not have the first button"


def first_to_join(transcript: Transcript) -> str:
    """Return the role that joins the game before any other request of the transcript, "" if none does."""
    requests = [(line.peer, line.text) for line in transcript.lines if line.kind == ">"]
    list_at = next((at for at, (_, text) in enumerate(requests) if text.startswith("GET /games/")), len(requests))
    role, text = next(((role, text) for role, text in requests[list_at + 1 :] if text != "POST /users/"), ("", ""))
    return role if text == JOIN_GAME_REQUEST else ""


def most_players(transcript: Transcript) -> int:
    """Return the number of players whom a transcript seats at one table at the same time."""
    counts, most = Counter[str](), 0
    for request, response in zip(transcript.lines[::2], transcript.lines[1::2], strict=True):
        found = MEMBERSHIP_PATTERN.fullmatch(request.text)
        if found and parse_expected_response(response.text).status < 300:
            counts[found[2]] += 1 if found[1] == "POST" else -1
            most = max(most, *counts.values())
    return most


async def replay(transcript: Transcript, context: HoldemContext) -> None:
    """Replay a transcript on a server and record deviations in the context.

    Raises CaseAborted if the conversation cannot go on, NotReached if the server's state does not allow it, and
    OtherSettings if its settings do not.
    """
    await HoldemReplay(transcript, context).play()


class HoldemReplay:
    """One replay of a transcript. Binds each `$name` of the transcript; roles are played by users with fresh names."""

    def __init__(self, transcript: Transcript, context: HoldemContext) -> None:
        self._transcript = transcript
        self._head = transcript.head
        self._context = context
        self._bindings: dict[str, str] = {}
        self._chip_corrections: Counter[str] = Counter()  # role -> chips more than in the transcript
        self._checks = ReplayChecks(transcript, context, self._bindings, self._chip_corrections)
        self._is_button_aligned = False
        self._first_role = ""  # the role that joined first
        self._seated_opener = ""  # the role that has a seat because it opened the game
        self._seated_status = HSPE_GO_SEATED if self._head.get("dialect") == "hspe-go" else SEATED

    async def play(self) -> None:
        """Replay all lines."""
        players = most_players(self._transcript)
        self._context.require_table(players)
        if self._context.server.settings.stakes.straddle and players >= MIN_STRADDLED_PLAYERS:
            raise OtherSettings(f"it is about {players} players without a straddle")
        lines = [(line.peer, self._scale(line.text)) for line in self._transcript.lines]
        for (role, request), (_, response) in zip(lines[::2], lines[1::2], strict=True):
            await self._exchange(role, request, parse_expected_response(response))
        if self._context.redirects and self._head.get("redirects") == "reported":
            found = self._context.redirects[0]
            self._context.add_deviation("holdem-1.3", "an answer without a redirect", found, Outcome.NON_STRICT)

    def _scale(self, text: str) -> str:
        """Return a line with its chips as they are at this server. Raises OtherSettings if there are none."""
        settings = self._context.server.settings
        scaled = scale_text(text, settings.stakes, settings.stack)
        if scaled is None:
            raise OtherSettings(f"it is about {TableSettings().description}; here are {settings.description}")
        return scaled

    async def _exchange(self, role: str, text: str, expected: ExpectedResponse) -> None:
        context = self._context
        if (
            NEW_SERVER_GAMES_PATTERN.fullmatch(expected.body)
            and text.startswith("GET /games/")
            and "game" not in self._bindings
        ):
            self._bindings["game"] = await self._claim_game()
            return
        if text == JOIN_GAME_REQUEST and role == self._seated_opener:
            self._seated_opener = ""
            self._first_role = role
            self._bind_players()
            return
        if text == "POST /users/" and expected.status == 201 and self._head.get("users") != "new":
            await context.register(role)
            if context.users[role].guid:
                self._bindings[role] = context.users[role].guid
            return
        self._bind_players(text)
        request = parse_request(text, self._bindings)
        translated = self._translate_expected(role, request, expected)
        if (
            not context.server.can_open_games
            and expected.status >= 400
            and request.method == "POST"
            and is_list(request)
        ):
            return  # the document has no way to make a game
        response = await self._request(role, request, translated)
        self._bind_players(text)
        if request.method == "DELETE" and response.status < 300:
            self._chip_corrections.pop(role, None)  # a player who joins again has the usual chips
        await self._checks.compare(role, request, translated, response)
        if text == JOIN_GAME_REQUEST and not self._first_role:
            self._first_role = role
        elif text == JOIN_GAME_REQUEST and self._first_role != role and expected.status == self._seated_status:
            await self._align_button()
        elif expected.status == self._seated_status and (name := OTHER_JOIN_PATTERN.fullmatch(text)):
            shown = await context.get_game(NOBODY, self._bindings[name[1]])
            if len(shown.table) == 2 and context.role_to_act(shown) == role:
                raise NotReached(f"{BUTTON_ELSEWHERE} in every game")

    async def _request(self, role: str, request: TranscriptRequest, expected: ExpectedResponse) -> ReceivedResponse:
        try:
            return await self._context.request(role, request.method, request.path, request.body, self._headers(request))
        except CaseAborted:
            if expected.status >= 400:
                self._checks.blame_end(role, request, expected.status)
            raise

    def _bind_players(self, request: str = JOIN_GAME_REQUEST) -> None:
        """Bind the names of the roles to their playerIDs in the game of a request: they may differ by game."""
        name = GAME_NAME_PATTERN.search(request)
        game = self._bindings.get(name[1] if name else "game")
        for seat in self._context.joined_seats:
            if seat.game == game:
                self._bindings[seat.role] = seat.player_id

    async def _align_button(self) -> None:
        """Give the first button to the role that has it in the transcript, once.

        Transcripts deal the first button to the first player who joins. If the server deals it to the other player,
        both sit down in other games. If it always does, one hand is folded first.
        """
        context = self._context
        if self._is_button_aligned or self._head.get("button") == "any":
            return
        self._is_button_aligned = True
        for seatings_left in range(MAX_SEATINGS - 1, -1, -1):
            shown = await context.get_game(NOBODY, self._bindings["game"])
            role = context.role_to_act(shown)
            if len(shown.table) != 2 or role in {"", self._first_role}:
                context.server.has_dealt_first_button_first = True
                return
            if context.server.deals_first_button_elsewhere or not seatings_left:
                break
            await self._seat_again(role)
        context.server.deals_first_button_elsewhere = not context.server.has_dealt_first_button_first
        if self._head.get("button") == "first":
            raise NotReached(BUTTON_ELSEWHERE)
        await self._fold_hand(shown, role)

    async def _fold_hand(self, shown: Game, second_role: str) -> None:
        """Let the player fold whose turn it is in a hand of two, and expect that it costs a blind.

        The first such hand is played to the flop, so that a referee sees who acts first there: if it is the player with
        the small blind, the first button was where it should be, and the blinds are reversed (6.4).
        """
        context, stakes = self._context, self._context.server.settings.stakes
        game, folding, chips = shown.game_id, second_role, stakes.small_blind
        if not context.server.has_shown_order_of_two and context.refereed_games.follows(game):
            await context.act(second_role, game, bet(shown.turn.bet_to_player - shown.turn.bet_so_far))
            await context.act(self._first_role, game, bet(0))
            folding, chips = context.role_to_act(await context.get_game(NOBODY, game)), stakes.big_blind
            if not folding:
                raise NotReached("no player has the turn after a call and a check")
            context.server.has_shown_order_of_two = True
        await context.act(folding, game, FOLD)
        self._chip_corrections[folding] -= chips
        self._chip_corrections[second_role if folding == self._first_role else self._first_role] += chips

    async def _seat_again(self, second_role: str) -> None:
        """Seat both players in another game, whose button may begin elsewhere. Raises NotReached if there is none."""
        context = self._context
        for seat in () if context.server.players_stay else [*context.joined_seats]:
            if seat.game == self._bindings["game"]:
                await context.leave(seat.role, seat.game)
        game = await context.open_game(self._first_role) or await context.claim_empty_game()
        if not game:
            raise NotReached(f"{BUTTON_ELSEWHERE}; {NO_FREE_GAME}")
        await context.seat(self._first_role, second_role, game=game)
        self._bindings["game"] = game
        self._bind_players()

    async def _claim_game(self) -> str:
        """Return a game in which nobody has played yet: the first role to join opens it if the server allows that."""
        context = self._context
        first = first_to_join(self._transcript)
        if first and context.server.can_open_games:
            await context.register(first)
            self._bindings[first] = context.users[first].guid
            if game := await context.open_game(first):
                self._seated_opener = first
                return game
        game = await context.claim_empty_game()
        if not game:
            raise NotReached(NO_FREE_GAME)
        return game

    def _translate_expected(
        self, role: str, request: TranscriptRequest, expected: ExpectedResponse
    ) -> ExpectedResponse:
        """Return what dialect hspe-go answers where the document expects `expected` (holdem-7.2, holdem-7.4).

        That is `expected` if the server does not speak this dialect, or the transcript does.
        """
        if self._context.dialect != "hspe-go" or self._head.get("dialect") == "hspe-go":
            return expected
        match request.method, path_segments(request.path), expected.status:
            case "POST", ["games"] | ["games", _, "players"], 201 | 202:
                return ExpectedResponse(HSPE_GO_SEATED, expected.headers)
            case "POST", ["games", _, "players", player, "acts"], 403 if player == self._bindings.get(role):
                return ExpectedResponse(409, expected.headers)
            case _:
                return expected

    def _headers(self, request: TranscriptRequest) -> dict[str, str]:
        """Return the headers of a request, with the credentials of the users who play the roles."""
        return {
            name: self._rename_credentials(value) if name == "Authorization" else value
            for name, value in request.headers
        }

    def _rename_credentials(self, value: str) -> str:
        scheme, space, coded = value.partition(" ")
        try:
            name, password = decode_user_pass(coded)
        except ValueError:
            return value
        if not name or not name.isprintable():
            return value
        users = self._context.users
        if name not in users:
            new_name = self._context.server.new_name(name)
            users[name] = ServerUser(new_name if len(name) < LONG_NAME_CHARS else new_name[-len(name) :], password)
        return f"{scheme}{space}{encode_user_pass(users[name].name, password).decode()}"
