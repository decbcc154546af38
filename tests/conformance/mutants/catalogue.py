"""The catalogue: the mutations of every room and role, and how each is examined."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, partial
from typing import NamedTuple

from croupier.rooms import HOUSE_ROOMS
from tests.conformance.mutants import (
    blackjack,
    blackjack_rounds,
    holdem,
    holdem_bots,
    kuhn,
    kuhn_coins,
    oldmaid_players,
    oldmaid_tables,
    players,
    sevenhalf,
    sevenhalf_bank,
)
from tests.conformance.mutants.examine import (
    Examination,
    examine_client,
    examine_holdem_bot,
    examine_holdem_server,
    examine_oldmaid_player,
    examine_server,
    examine_table,
)
from tests.conformance.mutants.holdem import HoldemMutation
from tests.conformance.mutants.mutant_bot import HoldemBotMutation
from tests.conformance.mutants.mutant_house import StateOf
from tests.conformance.mutants.mutation import Mutation, Role

type AnyMutation = Mutation | HoldemMutation | HoldemBotMutation

ROLES: Sequence[Role] = ("server", "client")


class RoomMutants(NamedTuple):
    """The mutations of a room by role, and what the tester finds in one."""

    mutations: Mapping[Role, Callable[[], Iterable[AnyMutation]]]
    examine: Mapping[Role, Callable[..., Examination]]


def _house_room(name: str, servers: Callable[[], Iterator[Mutation]], state_of: StateOf) -> RoomMutants:
    room = HOUSE_ROOMS[name]
    return RoomMutants(
        {"server": servers, "client": players.ALL[name]},
        {
            "server": partial(examine_server, room, state_of),
            "client": partial(examine_client, room, players.SETUPS[name]),
        },
    )


ROOMS: Mapping[str, RoomMutants] = {
    "kuhn": _house_room("kuhn", kuhn_coins.servers, kuhn.state_of),
    "sevenhalf": _house_room("sevenhalf", sevenhalf_bank.servers, sevenhalf.state_of),
    "blackjack": _house_room("blackjack", blackjack_rounds.servers, blackjack.state_of),
    "holdem": RoomMutants(
        {"server": holdem.servers, "client": holdem_bots.clients},
        {
            "server": lambda mutation, **options: examine_holdem_server(mutation.faulty, **options),
            "client": examine_holdem_bot,
        },
    ),
    "oldmaid": RoomMutants(
        {"server": oldmaid_tables.servers, "client": oldmaid_players.clients},
        {"server": examine_table, "client": examine_oldmaid_player},
    ),
}


@cache
def mutations(room: str, role: Role) -> Sequence[AnyMutation]:
    """The mutations of a room in a role, in a fixed order."""
    found = ROOMS[room].mutations.get(role)
    return tuple(found()) if found is not None else ()


def examine(mutation: AnyMutation, *, first_only: bool = False) -> Examination:
    """What the tester finds in a mutant."""
    return ROOMS[mutation.room].examine[mutation.role](mutation, first_only=first_only)
