"""The suite of tests for the clients of a house."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from croupier.conformance.clients import ClientTestData
from croupier.conformance.clients.bench import HouseClientBench
from croupier.conformance.clients.cases import HouseClientCase, client_cases
from croupier.conformance.suite import Bench, Config


@dataclass(frozen=True)
class HouseClientSuite:
    """The cases for the clients of a room. See `Suite`."""

    test_data: ClientTestData
    timeout: float = 5.0

    @property
    def untestable(self) -> Mapping[str, str]:
        """The clauses that cannot be tested on a client, each with the reason."""
        return self.test_data.untestable

    def cases(self) -> Sequence[HouseClientCase]:
        """Return all cases, in the order of the clauses."""
        return self._cases

    @cached_property
    def _cases(self) -> Sequence[HouseClientCase]:
        return client_cases(self.test_data)

    def bench(self, config: Config) -> Bench:
        """See `Suite.bench`."""
        return HouseClientBench(self.test_data, config)
