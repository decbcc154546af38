"""The bus of `--bus`, and what is wrong with it or with what it needs."""

import asyncio
import sys

import pytest

from croupier.app.cluster_node import default_node_name
from croupier.app.config import RoomConfig, ServerConfig
from croupier.app.serve import serve
from croupier.cluster.bus import BusUnavailable
from croupier.cluster.node import NODE_NAME
from croupier.cluster.open_bus import open_bus
from croupier.core.logger import SilentLogger
from croupier.rooms.holdem import ROOM, Settings


def test_another_kind_of_url_is_refused() -> None:
    with pytest.raises(ValueError, match=r"^found --bus 'redis://host'; allowed: nats://HOST:PORT or tls://HOST:PORT$"):
        asyncio.run(open_bus("redis://host", SilentLogger()))


def test_a_missing_client_of_nats_is_named_with_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "croupier.cluster.nats_bus", raising=False)
    for name in [name for name in sys.modules if name.partition(".")[0] == "nats"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "nats", None)
    with pytest.raises(BusUnavailable, match=r'^found no nats.*; pip install "croupier\[bus\]"$'):
        asyncio.run(open_bus("nats://127.0.0.1:1", SilentLogger()))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"bus": "nats://127.0.0.1:1"}, "found --bus without a store; allowed: both, or neither"),
        ({"houses": 2}, "found --houses 2 without a store; allowed: 1, or a store"),
        ({"houses": 0}, "found --houses 0; allowed: 1 to 255"),
    ],
)
def test_settings_that_contradict_each_other_are_named(options: dict[str, object], message: str) -> None:
    config = ServerConfig(journal="off", log_level="error", **options)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=f"^{message}$"):
        asyncio.run(serve([RoomConfig(ROOM, 0, Settings())], config, print))


def test_the_name_of_the_machine_makes_a_name_of_a_node() -> None:
    assert NODE_NAME.fullmatch(default_node_name(8080))
    assert default_node_name(8080).endswith("-8080")
