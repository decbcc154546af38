"""The baseline of heads-up hold'em: what two bots would win on average if they played by profiles learned in a pilot.

Luck is removed as in AIVAT (N. Burch et al., 2018) where chance moves: for the hole cards, the flop, the turn and the
river. Results keep their mean whatever the profiles are, because the hands of the pilot are not counted. The better a
profile describes a bot, the narrower its intervals: bots whose choices follow from what they face and from the strength
of their cards gain most.
"""

from typing import Final

PILOT_PAIRS: Final = 500
"""The pairs of hands from which profiles are learned. They are not counted."""
