"""Compares what a player sends with the lines of a transcript, as far as the protocol fixes them."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from croupier.conformance.oldmaid.answers import ReceivedMessage
from croupier.conformance.oldmaid.dialects import RESULTS
from croupier.conformance.oldmaid.replay_lines import (
    PAIR_CLAUSE,
    UNKNOWN_CARD_CLAUSE,
    ReplayLine,
    error_clause,
    expected_clause,
    replaced_clause,
    require_match,
    surplus_clause,
    wrong_count_clause,
)
from croupier.core.errors import Violation
from croupier.core.transcript import Transcript
from croupier.rooms.oldmaid.cards import CARD_NUMBERS, is_pair
from croupier.rooms.oldmaid.sender_clauses import ANSWER_CLAUSE, sender_clause
from croupier.rooms.oldmaid.wire import Discard

REFUSED_PICK_CLAUSE: Final = "oldmaid-7.6"
REFUSAL_CLAUSE: Final = "oldmaid-8.1"
"""The clauses of a player that refuses a right pick, or another right request, after it has refused a wrong one."""


class LineCheck:
    """Compares messages with lines, and remembers what earlier messages have fixed.

    `choice` is what the program does otherwise where it may, and `deviation` what is tolerated, both empty if there is
    nothing. `offered_counts` are the cards that each peer has offered, and `last_received` the last message to each.
    """

    def __init__(self, transcript: Transcript) -> None:
        self.choice = ""
        self.deviation = ""
        self.offered_counts: dict[str, int] = {}
        self.last_received: dict[str, Mapping[str, Any]] = {}
        self._transcript = transcript
        self._names: dict[str, str] = {}

    def check(self, entry: ReplayLine, received: ReceivedMessage, lines_left: Sequence[ReplayLine]) -> None:
        """Compare a message with a line. Raises Failed."""
        wanted, found, message = entry.wanted, received.json_object, received.message
        if wanted.get("result") == found.get("result") == "error":
            return
        if isinstance(message, Violation):
            clause = sender_clause(message, is_answer="result" in wanted)
            raise received.failure(clause, message.allowed, message.found)
        if "result" in found and found["result"] not in RESULTS:
            raise received.failure(ANSWER_CLAUSE, f"one of the results {', '.join(sorted(RESULTS))}")
        if wanted.get("result") == "error":
            raise received.failure(error_clause(entry), "an error")
        if isinstance(message, Discard) and not CARD_NUMBERS.keys() >= {*message.cards}:
            raise received.failure(UNKNOWN_CARD_CLAUSE, "cards of the pack, as 3 spades")
        if isinstance(message, Discard) and not is_pair(*map(CARD_NUMBERS.__getitem__, message.cards)):
            raise received.failure(PAIR_CLAUSE, "a pair: spades and clubs, or diamonds and hearts")
        if wanted.get("cmd") != found.get("cmd") or wanted.get("result") != found.get("result"):
            raise received.failure(self._other_message_clause(entry, received), entry.text)
        clause = expected_clause(self._transcript, entry)
        match wanted.get("cmd"):
            case "join":
                return
            case "pick":
                self._check_pick(entry, found, received)
                return
            case "discard":
                self._check_discard(clause, wanted, found, received)
                return
            case "offer":
                clause = wrong_count_clause(self._transcript, entry, found.get("num_cards"), lines_left)
        require_match(clause, entry, received, self._names)

    def _other_message_clause(self, entry: ReplayLine, received: ReceivedMessage) -> str:
        """Return the clause that is violated by another message than that of a line."""
        wanted, found = entry.wanted.get("cmd"), received.json_object
        last = self.last_received.get(entry.peer)
        if last is not None and found.get("result") == "error" == last.get("result"):
            return REFUSED_PICK_CLAUSE if "card" in entry.wanted else REFUSAL_CLAUSE
        is_repeated = last == found
        if (wanted, found.get("cmd")) == ("offer", "your_turn"):
            is_repeated = False  # it has the turn to offer, and passes on the turn to draw
        if is_repeated or (found.get("cmd") == "out_of_cards" and wanted not in {"join", "discard"}):
            return surplus_clause(self._transcript, received)
        return replaced_clause(self._transcript, entry)

    def _check_pick(self, entry: ReplayLine, found: Mapping[str, Any], received: ReceivedMessage) -> None:
        number, count = found.get("card_num"), self.offered_counts.get(entry.peer, 0)
        if type(number) is not int or not 0 <= number <= count:
            raise received.failure("oldmaid-7.4", f"a card_num of 0 to {count - 1}")
        if number == count:
            self.deviation = f"it picks card {count} of {count}, counted from 0"

    def _check_discard(
        self, clause: str, wanted: Mapping[str, Any], found: Mapping[str, Any], received: ReceivedMessage
    ) -> None:
        cards = {tuple(card) for card in found.get("cards", ())}
        if cards != {tuple(card) for card in wanted["cards"]}:
            raise received.failure(clause, f"to throw away {wanted['cards']}")
        last = str(found.get("last_cards", found.get("last_card", ""))).lower()
        if last and last != wanted["last_cards"]:
            self.choice = f"last_cards is {last} where croupier has {wanted['last_cards']} (oldmaid-5.11)"
