"""The books of the house: what happened at its tables, who has how many coins, and every hand that was played."""
