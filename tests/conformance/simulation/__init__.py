"""Programs that block and use threads, run in this process and in the simulated time of an event loop."""
