"""Reports of the tester for terminals, browsers and programs."""
