"""Holds conversations of scripted clients with a house under test, and remembers how it answers."""

import asyncio
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from itertools import pairwise
from random import Random
from typing import Final, Protocol

from croupier.conformance.channel.delivery import WHOLE, Delivery
from croupier.conformance.conversation import Conversation, DialogueLine
from croupier.conformance.parallel import CONNECT_GAP_SECONDS
from croupier.conformance.servers.deals import DealJudge
from croupier.conformance.servers.scenarios import send_each
from croupier.conformance.servers.scripted_client import HangUp, ScriptedClient, Wait
from croupier.conformance.servers.test_data import Reading, Scenario, ScenarioContext, ServerTestData
from croupier.conformance.suite import Attempt, Config, TargetGone
from croupier.conformance.timeouts import AnswerTimeout
from croupier.core.errors import FoundKind
from croupier.core.referee import CLIENT, HOUSE
from croupier.core.session import Address
from croupier.net.event_loop import run_together
from croupier.net.outgoing import LocalAddressError
from croupier.net.streams import random_loopback_host

QUIET_SECONDS: Final = 0.002
"""How long the house may take to answer a message that requires no answer, before the next message is sent."""

GRACE_SECONDS: Final = 0.02
"""How long to listen for unsolicited messages when a fault is reproduced."""

QUICK_GRACE_SECONDS: Final = 0.005
MIN_QUICK_WAIT_SECONDS: Final = 0.1
"""How long to listen for unsolicited messages, and to wait for an answer, where a conversation is repeated often."""

MAX_GRACE_SECONDS: Final = 0.25
"""How long to listen for unsolicited messages of a slow house at most."""

RECONNECT_SECONDS: Final = 0.2
CONNECT_TRIES: Final = 4
"""How long to wait for a server that accepts no connections before the next try, and how often to try."""

RECOVERY_TRIES: Final = 16
"""How often a single client asks a server that too many have asked, before the others are tested."""

SILENT_CLIENTS: Final = 8
"""This many clients in a row without an answer show that there are no more answers."""

TURNED_AWAY_PAUSES: Final = (0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0)
"""As many clients in a row that are sent away at once, each after such a pause, show that no client is served.

A house may have no room for some seconds.
"""

MIN_POOR_CLIENTS: Final = 5
"""This many clients that cannot pay for their first game show that no client can."""

HOLD_SECONDS: Final = 0.4
"""How long one client at least keeps its connection while another one waits for its first answer."""


class HouseUnderTest(Protocol):
    """A house under test. At most `max_closing` finished connections may wait for it to close them."""

    max_closing: int

    async def open(self, address: Address) -> None:
        """Converse with the house at this address from now on."""

    async def converse(self, probe: ScriptedClient) -> None:
        """Let the scripted client have its conversation; it is over when this returns."""

    async def close(self) -> None:
        """Wait until all connections are closed."""


class Conversations:
    """The conversations with one house.

    `accepted` are the kinds of messages that the house has not refused. `timeout` is that of an answer, where only the
    slowest one of each conversation counts, and `deals` counts what it deals. `last_lines` are those of the last
    conversation since a case began: what the house has ended at, if it takes no more connections. `misreading` is the
    wrong reading of the rules with which the house was found to play, if any.
    """

    def __init__(self, test_data: ServerTestData, target: HouseUnderTest, config: Config) -> None:
        self.accepted: set[str] = set()
        self.timeout = AnswerTimeout(config.timeout, was_silent=config.was_silent)
        self.last_lines: Sequence[DialogueLine] = ()
        self.misreading: Reading | None = None
        self.deals = DealJudge(test_data.fair_deal, config.known_options)
        self._test_data = test_data
        source = test_data.new_referee_source
        self._referees = None if source is None else source(config.known_options)
        self._target = target
        self._known_options = config.known_options
        self._dialect = config.known_dialect()
        self._strict = config.strict
        self._has_tls = config.ssl is not None
        self._answered_openings: set[bytes] = set()
        self._has_seen_game = self._was_started_again = False
        self._poor_clients = 0
        self._allows_several = False
        self._places = asyncio.Semaphore(1)
        self._connecting = asyncio.Lock()
        self._process = config.server
        self._address: Address = ("", 0)

    def allow_clients(self, clients: int, closing: int) -> None:
        """Let this many clients converse at the same time, while the house closes as many connections as `closing`."""
        self._allows_several = True
        self._places = asyncio.Semaphore(clients)
        self._target.max_closing = closing

    @property
    def lets_nobody_play(self) -> bool:
        """Whether no game has begun in the run because no client can pay for one."""
        return not self._has_seen_game and self._poor_clients >= MIN_POOR_CLIENTS

    async def open(self, address: Address) -> None:
        """Converse with the house at this address from now on."""
        self._address = address
        await self._target.open(address)

    async def close(self) -> None:
        """Wait until all connections are closed."""
        await self._target.close()

    def new_client(
        self,
        scenario: Scenario,
        random: Random,
        timeout: float,
        *,
        grace: float = 0.0,
        delivery: Delivery = WHOLE,
        strict: bool | None = None,
        progress: Counter[str] | None = None,
        earlier: Sequence[Conversation] = (),
    ) -> ScriptedClient:
        """Create a client that listens for `grace` seconds for unsolicited messages."""
        conversation = self.new_conversation(timeout, strict=strict)
        encode = self._test_data.room.codec(True, self._known_options).encode
        context = ScenarioContext(
            conversation,
            random,
            self._test_data,
            encode,
            timeout,
            self._dialect,
            Counter() if progress is None else progress,
            earlier,
        )
        return ScriptedClient(
            conversation,
            scenario(context),
            delivery=delivery,
            goodbye=b"".join(map(encode, self._test_data.goodbye)),
            owes_answer=self._test_data.owes_answer,
            quiet_seconds=max(QUIET_SECONDS, grace),
            grace_seconds=grace,
        )

    def new_conversation(
        self, timeout: float | None = None, *, strict: bool | None = None, reads_house_strictly: bool | None = None
    ) -> Conversation:
        """Create a judge of a conversation, which by default is as patient and as strict as the run."""
        timeout = self.timeout.max_seconds if timeout is None else timeout
        strict = self._strict if strict is None else strict
        conversation = Conversation(
            self._test_data.room,
            self._known_options,
            strict=strict,
            reads_house_strictly=reads_house_strictly,
            answer_timeout=timeout,
        )
        if self._referees is not None:
            conversation.referee = self._referees.new_referee(timeout)
        return conversation

    async def converse(self, probe: ScriptedClient) -> None:
        """Let a client converse, and learn from it. Raises TargetGone if the house accepts no connection."""
        async with self._places:
            await (self._hold_apart(probe) if self._allows_several else self._hold(probe))
        self._learn(probe)

    async def converse_with_each(self, probes: Sequence[ScriptedClient]) -> None:
        """Let clients converse, as many at the same time as there may be. Raises TargetGone."""
        await run_together(*map(self.converse, probes))

    async def converse_together(self, probes: Sequence[ScriptedClient]) -> None:
        """Let clients converse at the same time, however many they are. Raises TargetGone."""
        await run_together(*map(self._hold, probes))
        for probe in probes:
            self._learn(probe)

    async def are_independent(self, probes: Sequence[ScriptedClient], max_seconds: float) -> bool:
        """Whether clients that converse at the same time all play without a fault, and have their answers in time.

        Nothing is learned from them otherwise: they may have been too many.
        """
        gone = [
            end
            for end in await asyncio.gather(*map(self._hold_apart, probes), return_exceptions=True)
            if end is not None
        ]
        if not all(isinstance(end, TargetGone) for end in gone):
            raise gone[0]
        if gone or any(probe.fault or probe.slowest_seconds > max_seconds for probe in probes):
            return False
        if not all(probe.conversation.finished_games for probe in probes):
            return False
        if self._referees and not self._referees.are_independent([probe.conversation.referee for probe in probes]):
            return False
        for probe in probes:
            self._learn(probe)
        return True

    async def has_recovered(self, max_seconds: float) -> bool:
        """Wait until a house that too many clients have asked answers a single one in time; whether it does."""
        for _ in range(RECOVERY_TRIES):
            await self._target.close()
            client = self.new_client(send_each(self._test_data.sample_game[0]), Random(0), self.timeout.max_seconds)  # noqa: S311 -- nothing is drawn from it
            with suppress(TargetGone):
                await self._hold(client)
                if client.fault is None and client.slowest_seconds <= max_seconds:
                    return True
        return False

    async def _hold_apart(self, probe: ScriptedClient) -> None:
        """Let a client converse, which does not connect together with others: a server may let only a few wait."""
        async with self._connecting:
            await asyncio.sleep(CONNECT_GAP_SECONDS)
        await self._hold(probe)

    async def _hold(self, probe: ScriptedClient) -> None:
        """Let a client converse. Raises TargetGone if the house accepts no connection."""
        for remaining in range(CONNECT_TRIES)[::-1]:
            if self._process is not None and (address := await self._process.address_for_client()) != self._address:
                await self.open(address)
            await self._target.converse(probe)
            if probe.error is not None:
                raise probe.error
            if not probe.connect_error:
                self.last_lines = probe.conversation.lines
                break
            if not remaining:
                raise TargetGone(probe.connect_error, self.last_lines)
            await asyncio.sleep(RECONNECT_SECONDS)

    def _learn(self, probe: ScriptedClient) -> None:
        """Learn from a conversation that is over."""
        if any(side == HOUSE for side, _ in probe.wire_log):
            self.timeout.record_answer(probe.slowest_seconds)
        self._learn_accepted(probe.conversation)
        self._answered_openings |= {
            first.data
            for first, second in pairwise(probe.conversation.lines[:2])
            if (first.side, second.side) == (CLIENT, HOUSE)
        }
        referee, refusals = probe.conversation.referee, self._test_data.refusals_of_payment
        self._has_seen_game = self._has_seen_game or referee.game is not None or referee.finished_count > 0
        self._poor_clients += any(line.message in refusals for line in probe.conversation.lines if line.side == HOUSE)
        self.deals.observe(probe.conversation.dealt_games)
        if self._referees is not None:
            self._referees.observe(referee)
        if probe.fault and probe.fault.verdict.violation.kind is FoundKind.SILENCE:
            self.timeout.record_silence()

    def _learn_accepted(self, conversation: Conversation) -> None:
        """Remember the kinds of messages that the house accepts, i.e. does not refuse."""
        lines = conversation.lines
        is_house_at_fault = bool(conversation.faults_of(HOUSE))
        for sent, received in pairwise(lines):
            if (sent.side, received.side) == (CLIENT, HOUSE) and not self._test_data.is_refusal(received.message):
                if is_house_at_fault and received is lines[-1]:
                    break
                self.accepted.add(self._test_data.kind_of(sent.message))

    async def has_fallen_silent(self, attempt: Attempt) -> bool:
        """Whether no new client gets an answer to its first message any more, although an earlier one did."""
        if not attempt.is_silence or len(attempt.dialogue) != 1 or not self.is_served_elsewhere(attempt):
            return False
        (opening,) = attempt.dialogue
        for ending in (b"\n", *[b""] * SILENT_CLIENTS):  # it may only wait for a line end
            if _has_answered(await self.send_quickly([opening.data + ending], WHOLE)):
                return False
        return True

    def is_served_elsewhere(self, attempt: Attempt) -> bool:
        """Whether a client's first message is not answered, or refused, although earlier ones got their answers."""
        opening, *replies = attempt.dialogue or (None,)
        if opening is None or opening.data not in self._answered_openings:
            return False
        data = self._test_data
        is_refused = len(replies) == 1 and data.is_refusal(replies[0].message)
        is_poor = any(line.message in data.refusals_of_payment for line in replies)
        return not replies or (is_refused and not is_poor and data.kind_of(opening.message) in self.accepted)

    async def goes_on_with_earlier_game(self, attempt: Attempt) -> bool:
        """Whether a new client is refused a game, and may act at once in one that an earlier client has begun."""
        data, lines = self._test_data, attempt.dialogue
        if [line.side for line in lines] != [CLIENT, HOUSE] or data.kind_of(lines[0].message) not in self.accepted:
            return False
        if not data.is_refusal(lines[1].message) or lines[1].message in data.refusals_of_payment:
            return False
        encode = data.room.codec(True, self._known_options).encode
        for message in data.moves:
            probe = await self.send_quickly([encode(message)], WHOLE)
            replies = [line.message for line in probe.conversation.lines if line.side == HOUSE]
            if replies and not any(data.is_refusal(reply) or data.farewell_rule.is_goodbye(reply) for reply in replies):
                return True
        return False

    def has_only_goodbye(self, probe: ScriptedClient) -> bool:
        """Whether the house has sent no more than a goodbye."""
        said = [line.message for line in probe.conversation.lines if line.side == HOUSE]
        return bool(said) and all(map(self._test_data.farewell_rule.is_goodbye, said))

    def is_turned_away(self, probe: ScriptedClient) -> bool:
        """Whether the house has closed the connection with no more than a goodbye."""
        return probe.house_has_left and (self.has_only_goodbye(probe) or not _has_answered(probe))

    async def turns_everyone_away(self) -> bool:
        """Whether the house sends every client away at once, although it has played with earlier ones.

        If it has played with nobody, it may have sent away even the second client, and the first one did not play: a
        server that the tester has started is started again, to see whether it plays with its first one.
        """
        with suppress(TargetGone):
            if not self._has_seen_game and self._process is not None and not self._was_started_again:
                self._was_started_again = True
                await self._process.restart()
                await self.open(self._process.address)
                await self.play(send_each(self._test_data.sample_game[0]))
            if not self._has_seen_game:
                return False
            for pause in TURNED_AWAY_PAUSES:
                await asyncio.sleep(pause)
                if not self.is_turned_away(await self.play(send_each(self._test_data.sample_game[0]))):
                    return False
            return True
        return False

    async def play(
        self,
        scenario: Scenario,
        delivery: Delivery = WHOLE,
        grace: float = 0.0,
        timeout: float | None = None,
    ) -> ScriptedClient:
        """Hold a conversation of a client that listens for `grace` seconds for unsolicited messages."""
        random = Random(0)  # noqa: S311 -- nothing is drawn from it
        if timeout is None:
            timeout = self.timeout.for_try()
        client = self.new_client(scenario, random, timeout, grace=grace, delivery=delivery)
        await self.converse(client)
        return client

    async def send(self, messages: Sequence[bytes]) -> ScriptedClient:
        """Hold a conversation in which only these messages are sent, listening for a while after each."""
        return await self.play(send_each(*messages), grace=GRACE_SECONDS)

    async def send_quickly(self, messages: Sequence[bytes], delivery: Delivery) -> ScriptedClient:
        """As `send`, but do not wait longer than necessary."""
        timeout = min(self.timeout.max_seconds, max(MIN_QUICK_WAIT_SECONDS, 20 * self.timeout.average_seconds))
        return await self.play(send_each(*messages), delivery, QUICK_GRACE_SECONDS, timeout)

    @property
    def slow_grace(self) -> float:
        """The seconds that the house needs to send something of its own accord."""
        return min(MAX_GRACE_SECONDS, max(GRACE_SECONDS, 2 * self.timeout.slowest_seconds))

    async def send_slowly(self, messages: Sequence[bytes]) -> ScriptedClient:
        """As `send`, but give the house enough time before each message to send something of its own accord."""
        return await self.play(send_each(*messages), grace=self.slow_grace)

    async def is_poor_elsewhere(self) -> bool:
        """Whether a client at a new address cannot pay for its first game, although others could pay for theirs.

        A house with accounts knows a client by its address or its certificate. Only of a server that the tester has
        started: another one may be behind a relay, from which all clients come.
        """
        if not self._has_seen_game or self._has_tls or self._process is None or not self._address[0].startswith("127."):
            return False
        client = self.new_client(send_each(self._test_data.sample_game[0]), Random(0), self.timeout.for_try())  # noqa: S311 -- nothing is drawn from it
        client.local_host = random_loopback_host()
        try:
            await self.converse(client)
        except (LocalAddressError, TargetGone):
            return False
        return any(line.message in self._test_data.refusals_of_payment for line in client.conversation.lines)

    async def is_serial(self) -> bool:
        """Whether a second client gets its first answer only after the first client has left.

        The first one stays for so long that a house that is only slow has answered both before.
        """
        opening, hold = self._test_data.sample_game[0], max(HOLD_SECONDS, 4 * self.timeout.slowest_seconds)
        random = Random(0)  # noqa: S311 -- nothing is drawn from it
        first, second = (
            self.new_client(scenario, random, max(self.timeout.max_seconds, 3 * hold))
            for scenario in (send_each(opening, Wait(hold), HangUp()), send_each(opening))
        )

        async def hold_later() -> None:
            await asyncio.sleep(hold / 4)
            await self._hold(second)

        await run_together(self._hold(first), hold_later())
        for client in (first, second):
            self._learn(client)
        return second.fault is None and second.slowest_seconds > hold / 2


def _has_answered(probe: ScriptedClient) -> bool:
    """Whether the house has sent a message."""
    return any(line.side == HOUSE for line in probe.conversation.lines)
