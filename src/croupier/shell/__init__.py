"""The shell: where time, luck, sockets and logs are; it plugs sessions into wires."""
