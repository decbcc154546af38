"""The catalogue: the mutations of every room and role, and how each is examined."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import NamedTuple

from croupier.rooms import HOUSE_ROOMS
from tests.conformance.mutants import (
    blackjack,
    blackjack_rounds,
    holdem,
    kuhn,
    kuhn_coins,
    players,
    sevenhalf,
    sevenhalf_bank,
)
from tests.conformance.mutants.examine import Examination, examine_client, examine_holdem_server, examine_server
from tests.conformance.mutants.holdem import HoldemMutation
from tests.conformance.mutants.mutant_house import StateOf
from tests.conformance.mutants.mutation import Mutation, Role

HOLDEM = "holdem"
"""The room whose mutants answer over HTTP, and of which servers alone are generated."""

ROLES: Sequence[Role] = ("server", "client")


class HouseMutants(NamedTuple):
    """The mutations of a house, and its states."""

    mutations: Callable[[], Iterator[Mutation]]
    state_of: StateOf


ROOMS: Mapping[str, HouseMutants] = {
    "kuhn": HouseMutants(kuhn_coins.servers, kuhn.state_of),
    "sevenhalf": HouseMutants(sevenhalf_bank.servers, sevenhalf.state_of),
    "blackjack": HouseMutants(blackjack_rounds.servers, blackjack.state_of),
}


@cache
def mutations(room: str, role: Role) -> Sequence[Mutation | HoldemMutation]:
    """The mutations of a room in a role, in a fixed order."""
    if room == HOLDEM:
        return tuple(holdem.servers()) if role == "server" else ()
    return tuple(ROOMS[room].mutations() if role == "server" else players.ALL[room]())


def examine(mutation: Mutation | HoldemMutation, *, first_only: bool = False) -> Examination:
    """What the tester finds in a mutant."""
    if isinstance(mutation, HoldemMutation):
        return examine_holdem_server(mutation.faulty, first_only=first_only)
    room = HOUSE_ROOMS[mutation.room]
    if mutation.role == "server":
        return examine_server(room, mutation, ROOMS[room.name].state_of, first_only=first_only)
    return examine_client(room, mutation, players.SETUPS[room.name], first_only=first_only)
