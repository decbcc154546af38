"""Limits on wrong passwords: per address, per address and name, and per name from all addresses together."""

from collections import OrderedDict
from collections.abc import Hashable, Sequence
from typing import Final

from croupier.net.rate_limiter import RateLimiter

MAX_KNOWN_PLACES: Final = 100_000
"""Networks from which users have logged in. The oldest are forgotten: wrong passwords then count as a stranger's."""

type CountedTry = Sequence[tuple[RateLimiter, Hashable]]
"""The limiters that have counted a try, each with its key."""


class PasswordLimits:
    """Limits wrong passwords: a try counts before it is verified, and is given back if the password was right.

    `per_user` limits the tries for a name from all networks together, without those from which the user has logged in
    before: guessing from many addresses does not keep users out where they are known. A network is an address as
    `address_key` returns it. Times are in seconds.

    Example:
        >>> limits = PasswordLimits(RateLimiter(10, 60.0), RateLimiter(100, 60.0), RateLimiter(1, 60.0))
        >>> limits.add_known_place("192.0.2.1", "ann")
        >>> _ = limits.take("198.51.100.7", "ann", 0.0)
        >>> limits.retry_after("203.0.113.9", "ann", 20.0), limits.retry_after("192.0.2.1", "ann", 20.0)
        (40.0, 0.0)
    """

    def __init__(self, per_place: RateLimiter, per_address: RateLimiter, per_user: RateLimiter) -> None:
        self._per_place = per_place
        self._per_address = per_address
        self._per_user = per_user
        self._known_places: OrderedDict[tuple[str, str], None] = OrderedDict()  # latest login last

    def retry_after(self, network: str, name: str, now: float) -> float:
        """The seconds until a password for a name may be tried from a network; 0 if it may be tried now."""
        return max(limiter.retry_after(key, now) for limiter, key in self._limits(network, name))

    def take(self, network: str, name: str, now: float) -> CountedTry:
        """Count a try, which `give_back` takes."""
        counted = self._limits(network, name)
        for limiter, key in counted:
            limiter.take(key, now)
        return counted

    def give_back(self, counted: CountedTry, taken_at: float) -> None:
        """Undo a try that was counted at a time, because its password was not wrong."""
        for limiter, key in counted:
            limiter.give_back(key, taken_at)

    def add_known_place(self, network: str, name: str) -> None:
        """Note that a user has logged in from a network."""
        places = self._known_places
        if (network, name) not in places and len(places) >= MAX_KNOWN_PLACES:
            places.popitem(last=False)
        places[network, name] = None
        places.move_to_end((network, name))

    def _limits(self, network: str, name: str) -> CountedTry:
        limits: list[tuple[RateLimiter, Hashable]] = [
            (self._per_address, network),
            (self._per_place, (network, name)),
        ]
        if (network, name) not in self._known_places:
            limits.append((self._per_user, name))
        return limits
