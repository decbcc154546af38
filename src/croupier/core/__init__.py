"""The game-independent core: rules, sessions, codecs, dealers and transcripts, without sockets or clocks."""
