"""Fixtures of the tests of clusters."""

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests.store.store_fixture import memory_folder


@pytest.fixture
def quick_folder() -> Iterator[Path]:
    """An empty folder, in memory if that is possible: commits to it take less processor time."""
    with TemporaryDirectory(dir=memory_folder()) as folder:
        yield Path(folder)
