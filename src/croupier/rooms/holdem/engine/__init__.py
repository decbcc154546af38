"""The rules of no-limit hold'em: hands, bets, pots, hand ranks and equity."""
