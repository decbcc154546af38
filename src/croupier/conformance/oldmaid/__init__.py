"""Old Maid in the tester: tables that are tried by players of ours, and players that are tried in a ring of ours."""
