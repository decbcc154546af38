"""A server of all rooms under load does not grow: neither its memory, nor its descriptors, nor its lag."""

import sys

import pytest

from tests.load.soak import Soak, soak

MIB = 1 << 20

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")


def assert_no_growth(found: Soak, parts: int, memory_bytes: float) -> None:
    """Between the middle and the end of the time the memory grows by less than this, and nothing else grows."""
    middle, last = parts // 2, parts - 1
    assert found.memory(last, parts) - found.memory(middle, parts) < memory_bytes
    assert found.descriptors(last, parts) <= 1.2 * found.descriptors(middle, parts) + 5
    assert found.lag(last, parts) <= 3 * found.lag(middle, parts) + 0.01
    assert found.descriptors_after <= found.descriptors_before


@pytest.mark.extended
def test_a_server_under_load_for_half_a_minute_does_not_grow() -> None:
    found = soak(20.0, 4.0, 0.25)
    assert found.figures.errors == {}
    assert found.figures.achieved > 0.5 * found.figures.offered
    assert_no_growth(found, 4, 6 * MIB)


@pytest.mark.slow
def test_a_server_under_load_for_half_an_hour_does_not_grow() -> None:
    found = soak(1800.0, 10.0, 5.0)
    assert found.figures.errors == {}
    assert_no_growth(found, 6, 4 * MIB)
