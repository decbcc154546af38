"""The players whom a transcript lists by name and address, and the real ones in their places."""

import json
import re
from collections.abc import Sequence
from typing import Final

from croupier.conformance.oldmaid.endpoints import ProgramEndpoints
from croupier.conformance.oldmaid.replay_lines import ReplayLine
from croupier.core.session import Address

PLAYER_NAME: Final = "me"
"""The player's name in transcripts."""

PROGRAM_HOST: Final = "192.0.2.10"
UNUSED_ADDRESS: Final[Address] = ("127.0.0.1", 1)
"""An address at which nobody listens."""

LISTED_ADDRESS_PATTERN: Final = re.compile(rb'\["(::ffff:)?([\d.]+)", (\d+)\]')
LIST_PATTERN: Final = re.compile(rb'(?<="players": )(?:\{[^{}]*\}|\[.*\](?=\}))')


def lists_players(entry: ReplayLine) -> bool:
    """Whether a line sends the list of the players."""
    return entry.kind == ">" and LIST_PATTERN.search(entry.data) is not None


def seats_from_right(listed: ReplayLine | None) -> Sequence[tuple[Address, str]]:
    """Return the addresses and the nicks in a list, from the right neighbour of the program on.

    Empty if there is no list, or the program is not in it.
    """
    match = LIST_PATTERN.search(b"" if listed is None else listed.data)
    players = json.loads(match[0]) if match else []
    seats = [
        ((host.removeprefix("::ffff:"), port), nick)
        for (host, port), nick in (players.values() if isinstance(players, dict) else players)
    ]
    own_seat = next((seat for seat, ((host, _), _) in enumerate(seats) if host == PROGRAM_HOST), None)
    return () if own_seat is None else [seats[(own_seat - 1 + at) % len(seats)] for at in range(len(seats))]


class ListedPlayers:
    """Replaces the names and addresses of a transcript. `real_addresses` are those of players who are called."""

    def __init__(self, endpoints: ProgramEndpoints) -> None:
        self.real_addresses: dict[Address, Address] = {}
        self._endpoints = endpoints

    def with_real_names(self, data: bytes) -> bytes:
        """Return data with the real addresses, the nick of the program, and the list in the form of the dialect."""
        if self._endpoints.dialect == "njaal":
            data = LIST_PATTERN.sub(_other_form, data)

        def real(match: re.Match[bytes]) -> bytes:
            prefix, host, port = (part.decode() for part in match.groups(default=b""))
            real_host, real_port = self._real_address(host, int(port))
            return json.dumps([prefix + real_host, real_port]).encode()

        nick = self._endpoints.nick or PLAYER_NAME
        return LISTED_ADDRESS_PATTERN.sub(real, data).replace(b'"%s"' % PLAYER_NAME.encode(), json.dumps(nick).encode())

    def _real_address(self, host: str, port: int) -> Address:
        if host == PROGRAM_HOST and self._endpoints.program_address is not None:
            return self._endpoints.program_address
        return self.real_addresses.get((host, port), UNUSED_ADDRESS)


def _other_form(listed: re.Match[bytes]) -> bytes:
    """Return a list of players in the form of the other dialect."""
    players = json.loads(listed[0])
    numbered = {f"player{number}": player for number, player in enumerate(players, start=1)}
    return json.dumps([*players.values()] if isinstance(players, dict) else numbered).encode()
