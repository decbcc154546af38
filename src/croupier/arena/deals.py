"""Random numbers of the arena: each stream of each chunk has its own, on any process and in any order."""

from croupier.arena.plan import Pairing, Plan
from croupier.core.dealer import FairDealer, derive_server_seed


def deal_stream(plan: Plan, chunk: int, seating: int) -> FairDealer:
    """The dealer of one seating of a chunk; all pairings have the same deals, and duplicates in both seatings."""
    return _dealer(plan, "deals" if plan.duplicate else f"deals/{seating}", chunk)


def bot_stream(plan: Plan, pairing: Pairing, chunk: int, seating: int, index: int) -> FairDealer:
    """The random numbers of the first or second bot (`index`) of a pairing in one seating of a chunk."""
    return _dealer(plan, f"{pairing[0]}-{pairing[1]}/{index}/{seating}", chunk)


def stream_seed(plan: Plan, stream: str, chunk: int = 0) -> bytes:
    """The seed of a stream of random numbers."""
    return derive_server_seed(plan.seed, f"{plan.room}/arena/{stream}", chunk)


def _dealer(plan: Plan, stream: str, chunk: int) -> FairDealer:
    return FairDealer(stream_seed(plan, stream, chunk))
