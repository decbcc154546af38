"""The referee of Kuhn servers under test, which notes what a conversation shows about the client's purse."""

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import takewhile
from typing import Any, Final

from croupier.conformance.diagnosis.causes import message_code
from croupier.conformance.servers.kuhn_purses import (
    MAX_PURSE_COINS,
    USUAL_PURSE_COINS,
    Occasion,
    Payment,
    Purse,
    PurseEvent,
    purse_sizes,
)
from croupier.core.errors import Violation
from croupier.core.referee import ExpectedReply, Verdict
from croupier.rooms.kuhn import Settings
from croupier.rooms.kuhn.referee import ExpectedOneOf, Referee, WireGame
from croupier.rooms.kuhn.rules import BETTING_TREE, CARDS, BettingHistory
from croupier.rooms.kuhn.wire import ACTN, DISC, NO_COINS, STRT, WRONG_ACTION, Message, Strt

COSTLY_MESSAGES: Final = frozenset({*STRT.values(), ACTN["BET"], ACTN["CAL"]})
"""The messages that cost a coin."""

MIN_EQUAL_PURSES: Final = 2
"""This many purses of one size, and none of another, are enough to expect that size of all purses."""

MAX_EMPTIED_PURSES: Final = 8
"""This many purses that were emptied in other cases are compared with those that were spent to compare them."""

MAX_GAMES: Final = 400
"""At most this many games are played to empty a purse: a purse of 10 coins needs about 25."""

SEQUENCE_CLAUSES: Final[Mapping[BettingHistory, str]] = {
    ("CHK", "CHK"): "kuhn-5.1",
    ("CHK", "BET", "CAL"): "kuhn-5.2",
    ("CHK", "BET", "FLD"): "kuhn-5.3",
    ("BET", "CAL"): "kuhn-5.2",
    ("BET", "FLD"): "kuhn-5.3",
}
"""The possible action sequences, and the clause about their result."""


class CoinTrackingReferee(Referee):
    """A referee of a client that does not know what is paid into its purse. See `Referee`.

    After FAIL N_C the purse is known until the game ends: whether the end is paid rightly is another question.
    `coins_left` is what is in the purse if it held `expected` coins at the start and all payments were right: where it
    is empty, an answer that is neither FAIL N_C nor right breaks the clause about it.
    """

    def __init__(self, expected: int, reply_timeout: float) -> None:
        super().__init__(None, reply_timeout)
        self.coins_left = expected
        self.known_size: int | None = None
        """The size of every purse, if the house is known to be set so."""
        self.can_be_emptied = True
        """False if earlier clients could not spend all coins of such a purse."""
        self.emptied_purses: Sequence[Purse] = ()
        """Purses of earlier clients that show their size."""
        self._pots = self._folded_pots = 0
        self._events: list[PurseEvent] = []

    @property
    def purse(self) -> Purse:
        """What the conversation shows about the purse: the messages of the client that were answered."""
        return [event for event in self._events if event.is_answered]

    @property
    def legal(self) -> tuple[Message, ...]:
        """The messages that the client may send now, as far as its coins are known."""
        legal = super().legal
        if self._coins is None:
            return legal
        left = self._coins - (self._client_stake(self.game) if self.game is not None else 0)
        return legal if left > 0 else tuple(message for message in legal if message not in COSTLY_MESSAGES)

    def _handle(self, message: Message | Violation) -> list[Verdict]:
        event = PurseEvent()
        self._events.append(event)
        state, is_in_game = self.state_title, self.game is not None
        verdicts = super()._handle(message)
        due = self.pending
        event.is_answered = due is None and message != DISC
        if not isinstance(due, ExpectedOneOf):
            clause = "kuhn-7.3" if message == ACTN["FLD"] else self._silence_clause
        elif NO_COINS in due.allowed:
            event.cost = 1
            clause = "kuhn-7.2" if isinstance(message, Strt) else "kuhn-7.3"
            if self.coins_left < 1:
                self._expected_replies[0] = ExpectedOneOf(clause, due.allowed)
        else:
            clause = "kuhn-6.7" if WRONG_ACTION in due.allowed else "kuhn-7.3"
        if clause is not None:
            occasion = Occasion.COST if event.cost else Occasion.FREE
            event.payments += _payments(message, occasion, clause, state, is_in_game=is_in_game)
        return verdicts

    @property
    def state_title(self) -> str:
        """The state of the game, for people."""
        if self.game is None:
            return "between two games" if self.finished_count else "before the first game"
        seat = ("P_1", "P_2")[self.game.seat]
        return f"as {seat}{' after ' if self.game.history else ''}{' '.join(self.game.history)}"

    def _check_reply(self, expected: ExpectedReply, message: Message) -> list[Verdict]:
        verdicts = super()._check_reply(expected, message)
        event = self._events[-1]
        if verdicts or event.is_answered:
            return verdicts
        event.is_answered = True
        self.coins_left -= event.cost
        if message == NO_COINS:
            event.is_refused = True
            self.coins_left = 0
            if self._coins is None:
                self._coins = 0 if self.game is None else self._client_stake(self.game)
        return verdicts

    def _end_game(self, game: WireGame) -> None:
        super()._end_game(game)
        self._coins = None
        event = self._events[-1]
        event.net = game.net
        event.pot = 2 + game.history.count("BET") + game.history.count("CAL")
        event.earlier_pots, event.folded_pots = self._pots, self._folded_pots
        self._pots += event.pot
        has_folded = game.house_card is None and game.net < 0
        self._folded_pots = self._folded_pots + event.pot if has_folded else 0
        event.gain = self._client_stake(game) + game.net
        self.coins_left += event.gain
        event.payments += _endings(game)


def _payments(
    message: Message | Violation, occasion: Occasion, clause: str, state: str, *, is_in_game: bool
) -> Sequence[Payment]:
    """The payments that a message may bring in a state of the game, alone or with others."""
    text = "bytes without a meaning" if isinstance(message, Violation) else str(message)
    costly = "each ante" if isinstance(message, Strt) else "each bet and each call"
    code = (message.code or text) if isinstance(message, Violation) else message_code(message)
    return [
        *([Payment(occasion, clause, costly)] if message in COSTLY_MESSAGES else []),
        Payment(occasion, clause, f"each {text}"),
        Payment(occasion, clause, f"each {text} {state}"),
        Payment(occasion, clause, f"each {code} {state}"),
        Payment(occasion, clause, f"each {code} {'during a game' if is_in_game else 'without a game'}"),
        Payment(Occasion.STATE, "kuhn-7.1", f"each message {state}"),
    ]


def _endings(game: WireGame) -> Sequence[Payment]:
    """The payments at the end of a game: for its end, the whole sequence of actions, and the client's part of it."""
    seat, result = ("P_1", "P_2")[game.seat], "won" if game.net > 0 else "lost"
    last = max(turn for turn in range(len(game.history)) if BETTING_TREE[game.history[:turn]][0] == game.seat)
    ended, decided = " ".join(game.history), " ".join(game.history[: last + 1])
    until_bet = " ".join(takewhile(lambda action: action not in {"CAL", "FLD"}, game.history))
    return [
        Payment(Occasion.ANY_ENDING, "kuhn-7.4", "each game that the client has won"),
        *_groups(game, seat),
        *([Payment(Occasion.ENDING, "kuhn-7.4", f"each game with {until_bet}")] if "BET" in game.history else []),
        *(
            Payment(Occasion.ENDING, SEQUENCE_CLAUSES[game.history], f"each game that {player} has {result} by {ended}")
            for player in (seat, "the client")
        ),
        Payment(Occasion.ENDING, "kuhn-7.4", f"each game that {seat} has {result} after {decided}"),
    ]


def _groups(game: WireGame, seat: str) -> Sequence[Payment]:
    """The payments at the end of all games with a fold, or with a showdown, that have something in common."""
    if game.house_card is None:
        return [Payment(Occasion.ENDING, "kuhn-5.3", f"each fold of {'the house' if game.net > 0 else 'the client'}")]
    cards = " and ".join(f"C_{card}" for card in sorted((str(game.card), game.house_card), key=CARDS.index))
    titles = ("each showdown", f"each showdown of {seat}", f"each showdown between {cards}")
    return [Payment(Occasion.ENDING, "kuhn-3.5", title) for title in titles]


class PurseObserver:
    """What the purses of a run have in common. See `RefereeSource`."""

    def __init__(self, known_options: Any) -> None:
        self._known_size = known_options.coins if isinstance(known_options, Settings) else None
        self._sizes: Counter[int] = Counter()
        self._emptied: list[Purse] = []
        self._unspent_count = 0

    def new_referee(self, reply_timeout: float) -> CoinTrackingReferee:
        """Create the referee of a new connection."""
        referee = CoinTrackingReferee(self._expected_size, reply_timeout)
        referee.known_size = self._known_size
        referee.can_be_emptied = self._unspent_count < MIN_EQUAL_PURSES
        referee.emptied_purses = [*self._emptied]
        return referee

    @property
    def _expected_size(self) -> int:
        """The size of all purses, as far as anything is known about it."""
        if self._known_size is not None:
            return self._known_size
        match [*self._sizes.items()]:
            case [(size, count)] if count >= MIN_EQUAL_PURSES:
                return size
            case _:
                return USUAL_PURSE_COINS

    def are_independent(self, referees: Sequence[CoinTrackingReferee]) -> bool:
        """See `RefereeSource`: as far as it shows, all purses are of one size. Those that share coins are not."""
        sizes = [purse_sizes(referee.purse) for referee in referees]
        return max(each.start for each in sizes) < min(each.stop for each in sizes)

    def observe(self, referee: CoinTrackingReferee) -> None:
        """Learn from a conversation that is over."""
        sizes = purse_sizes(referee.purse)
        self._unspent_count += referee.finished_count >= MAX_GAMES and sizes.stop > MAX_PURSE_COINS
        if len(sizes) == 1:
            self._sizes[sizes[0]] += 1
            if len(self._emptied) < MAX_EMPTIED_PURSES:
                self._emptied.append(referee.purse)
