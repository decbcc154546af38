"""The reports of the tester: what was found, for terminals, browsers and programs."""
