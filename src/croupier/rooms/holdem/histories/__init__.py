"""Hand history formats: PHH and ACPC (read and write), Open Hand History (write)."""

from croupier.rooms.holdem.histories.acpc import from_acpc, to_acpc, to_acpc_log
from croupier.rooms.holdem.histories.ohh import to_ohh
from croupier.rooms.holdem.histories.phh import from_phh, to_phh

__all__ = ["from_acpc", "from_phh", "to_acpc", "to_acpc_log", "to_ohh", "to_phh"]
