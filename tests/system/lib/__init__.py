"""The harness of the system tests: real processes, real sockets, injected faults."""
