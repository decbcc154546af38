"""The mutations of blackjack that lie deeper than its exchanges: how rounds end, what is drawn and what is paid."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

from croupier.core.bank import bank_cards, client_cards
from croupier.rooms.blackjack import ROOM
from croupier.rooms.blackjack.rules import CARDS, client_wins, hand_total
from croupier.rooms.blackjack.wire import CRD, Bet, Crd, Mon, Mov, Res, Srd, Trn
from tests.conformance.mutants.blackjack import (
    BETTING,
    DECIDING,
    IDLE,
    LEAVING,
    STOP,
    TABLE_OF_ROOM,
    TURN,
    UNEXPECTED,
    blackjack,
)
from tests.conformance.mutants.conversations import ConversationTable, conversation_faults, unfair_deals
from tests.conformance.mutants.mutation import Mutation, Situation, text_of
from tests.conformance.mutants.operators import misread, mixed_up, moved_by_errors, only_in, server_mutations
from tests.conformance.mutants.purses import add_coins, paying
from tests.conformance.mutants.rewriting import Rewrite, Rewritten, rewriting
from tests.rooms.conversation_fixture import HANG_UP

_new = Rewritten(ROOM)


def score(cards: Sequence[str]) -> int:
    return hand_total(cards).total


def _hands(situation: Situation, messages: Sequence[Any]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The cards of client and bank after these messages."""
    own, bank = client_cards(situation.game), bank_cards(situation.game)
    own += tuple(each.card for each in messages if isinstance(each, Crd) and each.owner == "C")
    bank += tuple(each.card for each in messages if isinstance(each, Crd) and each.owner == "S")
    return own, bank


def _ending(situation: Situation, messages: Sequence[Any]) -> str:
    """How a round has ended, a key of `ENDINGS`."""
    own, bank = map(score, _hands(situation, messages))
    if isinstance(situation.message, Srd):
        return "the client surrenders"
    if text_of(situation.message) == "MOV H":
        return "a hit makes 21" if own == 21 else "a hit makes too much"
    if bank > 21:
        return "the bank is over"
    if own == bank:
        return "a tie at 21" if own == 21 else "a tie"
    return "the client has more" if own > bank else "the bank has more"


ENDINGS = {
    "the client surrenders": ("4.5", "5.3"),
    "a hit makes 21": ("3.5", "5.1"),
    "a hit makes too much": ("3.6", "5.2"),
    "the bank is over": ("3.9", "5.1"),
    "a tie at 21": ("3.10", "5.2"),
    "a tie": ("3.10", "5.1"),
    "the client has more": ("3.9", "5.1"),
    "the bank has more": ("3.9", "5.2"),
}
"""The ways in which a round ends, with the clauses of the winner and of the payment."""

WRONG_RESULTS: dict[str, Callable[[Res, int], Res]] = {
    "the wrong winner": lambda res, bet: Res("L", 0) if res.result == "W" else Res("W", 2 * bet),
    "the wrong letter": lambda res, bet: Res("L" if res.result == "W" else "W", res.coins),
    "the gain instead": lambda res, bet: Res(res.result, res.coins - bet),
    "one coin more": lambda res, bet: Res(res.result, res.coins + 1),
    "half as much again": lambda res, bet: Res(res.result, res.coins + bet // 2),
}


def _results() -> Iterator[Mutation]:
    """Wrong winners and payments, by the ending of a round."""
    for ending, numbers in ENDINGS.items():
        for what, wrong in WRONG_RESULTS.items():

            def rewrite(situation: Situation, messages: list[Any], ending=ending, wrong=wrong) -> Any:
                if not messages or not isinstance(messages[-1], Res) or _ending(situation, messages) != ending:
                    return messages
                return [*messages[:-1], wrong(messages[-1], situation.game.bet)]

            blamed = numbers if what.startswith("the wrong") else (numbers[-1], "5.4")
            yield _new("pays wrongly", DECIDING, f"{ending}: {what}", rewrite, *blamed)

    def pay_more(situation: Situation, messages: list[Any]) -> Any:
        if not messages or not isinstance(messages[-1], Res) or messages[-1].result != "W":
            return messages
        own = client_cards(situation.game)
        more = situation.game.bet // 2 if len(own) == 2 and score(own) == 21 else 0
        return [*messages[:-1], Res("W", messages[-1].coins + more)]

    yield _new("pays wrongly", DECIDING, "3:2 for 21 in two cards", pay_more, "3.11", "5.1")
    for what, share in (("all", 1.0), ("nothing", 0.0), ("a half, rounded up", 0.5000001)):
        yield _new(
            "pays wrongly",
            DECIDING,
            f"a surrender pays back {what}",
            lambda situation, messages, share=share: [
                Res("L", -int(-situation.game.bet * share // 1))
                if isinstance(message, Res) and isinstance(situation.message, Srd)
                else message
                for message in messages
            ],
            "5.3",
        )


def _purses() -> Iterator[Mutation]:
    """Balances that do not fit what was bet and paid."""
    nets: dict[str, Callable[[Situation, int], bool]] = {
        "a win": lambda situation, net: net > 0,
        "a loss": lambda situation, net: net < 0 and not isinstance(situation.message, Srd),
        "a surrender": lambda situation, net: isinstance(situation.message, Srd),
    }
    new = partial(Mutation, room="blackjack", role="server", operator="keeps the wrong balance", state=IDLE[1])
    for title, is_paid in nets.items():
        for what, factor in {"not counted": 0, "counted twice": 2, "counted the other way": -1}.items():
            note, pay = paying(is_paid, factor)
            yield new(what=f"{title} is {what}", clauses=blackjack("7.2", "7.3"), before=note, after=pay)
    for coins in (1, -1, 100):
        yield new(
            what=f"{coins:+} coins at every round",
            clauses=blackjack("7.2", "7.3"),
            after=only_in(lambda situation: situation.state == DECIDING, add_coins(coins)),
        )
    yield new(
        what="a refused bet is taken",
        clauses=blackjack("6.1", "7.2", "6.6", "6.5"),
        after=only_in(
            lambda situation: isinstance(situation.message, Bet) and situation.message.coins <= 0, add_coins(-10)
        ),
    )
    for coins in (999, 0, 1001):
        yield new(
            what=f"every MON says {coins}",
            clauses=blackjack("7.1", "7.2", "7.5", "6.6") if coins == 0 else blackjack("7.1", "7.2"),
            change=rewriting(
                ROOM,
                lambda situation, messages, coins=coins: [
                    Mon(coins) if isinstance(each, Mon) else each for each in messages
                ],
            ),
        )
    yield new(
        what="MON says the balance after the last bet",
        clauses=blackjack("7.2"),
        change=rewriting(ROOM, _late_balance),
    )


def _late_balance(situation: Situation, messages: list[Any]) -> Any:
    """MON shows the balance of one round before."""
    shown = []
    for each in messages:
        if isinstance(each, Mon):
            shown.append(Mon(situation.memory.get("balance", each.coins)))
            situation.memory["balance"] = each.coins
        else:
            shown.append(each)
    return shown


type Stops = Callable[[tuple[str, ...], int], bool]
"""Whether a bank with these cards stops, against a client with this score."""

DRAWS: dict[str, Stops] = {
    "on 16": lambda cards, own: score(cards) >= 16,
    "not before 18": lambda cards, own: score(cards) >= 18,
    "not on a soft 17": lambda cards, own: score(cards) > 17 or (score(cards) == 17 and not hand_total(cards).is_soft),
    "when it has more than the client": lambda cards, own: score(cards) > own or score(cards) >= 17,
    "not before it has as much as the client": lambda cards, own: score(cards) >= max(17, min(own, 21)),
    "after two cards": lambda cards, own: len(cards) >= 2,
    "when it is over only": lambda cards, own: score(cards) > 21,
}


def _draws() -> Iterator[Mutation]:
    """Wrong rules of the bank, with a result that fits its cards."""
    for what, stops in DRAWS.items():

        def rewrite(situation: Situation, messages: list[Any], stops=stops) -> Any:
            if text_of(situation.message) != "MOV S" or not messages or not isinstance(messages[-1], Res):
                return messages
            own, shown = _hands(situation, messages)
            left = [card for card in CARDS if card not in own and card not in shown]
            first = len(bank_cards(situation.game))
            bank, coming = list(shown[:first]), [*shown[first:], *left]
            while len(bank) == first or not stops(tuple(bank), score(own)):
                bank.append(coming.pop(0))
            won = client_wins(score(own), score(bank))
            result = Res("W", 2 * situation.game.bet) if won else Res("L", 0)
            return [*(CRD["S"][card] for card in bank[first:]), result]

        yield _new("draws wrongly", DECIDING, f"the bank stops {what}", rewrite, "3.8")


def _turns() -> Iterator[Mutation]:
    """Rounds that go on or end at the wrong score."""

    def ends(is_end: Callable[[int, int], bool], result: Callable[[int], Res], sent: tuple[str, ...]) -> Rewrite:
        def rewrite(situation: Situation, messages: list[Any]) -> Any:
            if not messages or not isinstance(messages[-1], Trn) or not text_of(situation.message).startswith(sent):
                return messages
            dealt = tuple(each.card for each in messages if isinstance(each, Crd) and each.owner == "C")
            own = (*(client_cards(situation.game) if situation.game is not None else ()), *dealt)
            bet = situation.game.bet if situation.game is not None else situation.message.coins
            return [*messages[:-1], result(bet)] if is_end(score(own), len(own)) else messages

        return rewrite

    won: Callable[[int], Res] = lambda bet: Res("W", 2 * bet)  # noqa: E731
    lost: Callable[[int], Res] = lambda bet: Res("L", 0)  # noqa: E731
    yield _new(
        "ends wrongly", BETTING, "21 in two cards wins", ends(lambda own, cards: own == 21, won, ("BET",)), "3.7", "4.2"
    )
    hit = ("MOV H",)
    yield _new(
        "ends wrongly", DECIDING, "20 wins at once", ends(lambda own, cards: own == 20, won, hit), "3.4", "4.3", "3.5"
    )
    yield _new(
        "ends wrongly", DECIDING, "20 loses at once", ends(lambda own, cards: own == 20, lost, hit), "3.4", "4.3", "3.6"
    )
    yield _new(
        "ends wrongly", DECIDING, "five cards win", ends(lambda own, cards: cards == 5, won, hit), "3.4", "4.3", "3.11"
    )
    for what, limit, numbers in (("21", 21, ("3.5", "4.3")), ("22", 22, ("3.6", "4.3"))):
        yield _new(
            "ends wrongly",
            DECIDING,
            f"a hit that makes {what} is followed by TRN",
            lambda situation, messages, limit=limit: (
                [*messages[:-1], Trn()]
                if text_of(situation.message) == "MOV H"
                and isinstance(messages[-1], Res)
                and score(_hands(situation, messages)[0]) == limit
                else messages
            ),
            *numbers,
        )
    yield _new(
        "ends wrongly",
        DECIDING,
        "an ace is always 11",
        lambda situation, messages: (
            [*messages[:-1], Res("L", 0)]
            if isinstance(situation.message, Mov)
            and situation.message.move == "H"
            and isinstance(messages[-1], Trn)
            and _with_high_aces(_hands(situation, messages)[0]) > 21
            else messages
        ),
        "3.2",
        "4.3",
        "3.6",
    )


def _with_high_aces(cards: Sequence[str]) -> int:
    return sum(11 if card[0] == "A" else 10 if card[0] in "TJQK" else int(card[0]) for card in cards)


def _cards() -> Iterator[Mutation]:
    """Unfair decks, and cards for the wrong side."""
    some = {number: CARDS[number] for number in (0, 25, 51)}
    yield from unfair_deals("blackjack", blackjack("3.1"), frozenset(), some)
    for what, rewrite, state, numbers in (
        ("all cards are the client's", lambda each: CRD["C"][each.card], BETTING, ("4.2", "4.4", "3.3")),
        ("all cards are the bank's", lambda each: CRD["S"][each.card], DECIDING, ("4.2", "4.3", "3.3")),
    ):
        yield _new(
            "deals unfairly",
            state,
            what,
            lambda situation, messages, rewrite=rewrite: [
                rewrite(each) if isinstance(each, Crd) else each for each in messages
            ],
            *numbers,
        )
    yield _new(
        "deals unfairly",
        BETTING,
        "the bank is dealt its second card at once",
        lambda situation, messages: (
            [*messages[:3], CRD["S"]["2C"], messages[3]] if len(messages) == 4 and messages[3] == Trn() else messages
        ),
        "3.3",
        "4.2",
    )


ERROR_CLAUSES = blackjack("6.1", "6.3", "6.4", "6.5", "6.6")

CONVERSATIONS = ConversationTable(
    name="blackjack",
    greetings={
        **dict.fromkeys((b"MON" + (1000).to_bytes(4), UNEXPECTED, TURN), blackjack("1.2")),
        b"HEL": blackjack("1.2", "2.10"),
    },
    start="PLY",
    refusal=UNEXPECTED,
    errors=(b"ERR",),
    next_clauses=blackjack("4.8", "4.1"),
    refused_clauses=blackjack("4.8", "4.1"),
    closes={
        "": ((), blackjack("8.2", "4.1")),
        " with a goodbye": ((LEAVING, STOP), blackjack("8.2", "4.8", "4.1")),
    },
    ends={
        "": (lambda messages: [*messages, HANG_UP], blackjack("8.2", "6.1")),
        " with a goodbye": (lambda messages: [*messages, LEAVING, STOP, HANG_UP], ERROR_CLAUSES | blackjack("8.2")),
    },
    state=IDLE[1],
)


def _cased() -> Iterator[Mutation]:
    yield Mutation(
        room="blackjack",
        role="server",
        operator="converses wrongly",
        state="always",
        what="understands small letters",
        clauses=blackjack("2.5", "2.10", "6.7"),
        new_reader=lambda room: lambda data: [data[:3].upper() + data[3:]],
    )


def _lose_round(table: Any, situation: Situation) -> None:
    table._forfeit()
    table._is_betting = False


def _return_bet(table: Any, situation: Situation) -> None:
    """The stake is returned, and BET is expected again."""
    table._state = None
    table._is_betting = True
    table._purse.coins += table._stake
    table._purse.staked = table._stake = 0


def _begin(table: Any, situation: Situation) -> None:
    table._is_betting = True


def servers() -> Iterator[Mutation]:
    """All mutations of the house."""
    yield from server_mutations(TABLE_OF_ROOM)
    taken = add_coins(-10)
    yield from moved_by_errors(TABLE_OF_ROOM, IDLE, {"a round begins": _begin, "10 coins are taken": taken})
    yield from moved_by_errors(
        TABLE_OF_ROOM, [BETTING], {"the round is over": _lose_round, "10 coins are taken": taken}
    )
    yield from moved_by_errors(
        TABLE_OF_ROOM, [DECIDING], {"the round is lost": _lose_round, "the bet is asked for again": _return_bet}
    )
    yield from misread("blackjack", blackjack("1.3", "2.1"))
    yield from mixed_up("blackjack", blackjack("1.2"), blackjack("7.1"))
    yield from _results()
    yield from _purses()
    yield from _draws()
    yield from _turns()
    yield from _cards()
    yield from _cased()
    yield from conversation_faults(CONVERSATIONS)
