"""Tests of house game servers: cases, scripted clients and verdicts."""

from collections.abc import Mapping
from typing import Final

from croupier.conformance.servers.test_data import ServerTestData
from croupier.rooms import HOUSE_ROOMS

TEST_DATA_BY_ROOM: Final[Mapping[str, ServerTestData]] = {
    name: room.load_extra("server_tests") for name, room in HOUSE_ROOMS.items()
}
