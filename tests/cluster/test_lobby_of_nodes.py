"""The lobby of each server of a cluster counts the players of all of them."""

import time
from pathlib import Path
from urllib.request import urlopen

import pytest

from tests.cluster.two_servers import two_servers
from tests.processes import PATIENCE, Serving

KUHN = 'id="count-kuhn"'


def kuhn_players(serving: Serving) -> str:
    """What the lobby of a server says of Kuhn poker."""
    with urlopen(f"http://127.0.0.1:{serving.ports['web']}/", timeout=PATIENCE) as answer:
        page = answer.read().decode()
    return str(page.partition(KUHN)[2].partition(">")[2].partition("<")[0])


def wait_for_players(serving: Serving, text: str) -> None:
    end = time.monotonic() + PATIENCE
    while (shown := kuhn_players(serving)) != text:
        assert time.monotonic() < end, shown
        time.sleep(0.05)


@pytest.mark.extended
def test_the_lobby_counts_the_connections_to_all_nodes(tmp_path: Path) -> None:
    with two_servers(tmp_path) as (_, ada, bea):
        ada.call().sendall(b"STRT P_1")
        for serving in (ada, bea):
            wait_for_players(serving, "1 playing")
        bea.call().sendall(b"STRT P_1")
        for serving in (ada, bea):
            wait_for_players(serving, "2 playing")
