# tests/system: the real programs against a real redis-server. They are found
# in $LOCKBROKERD_BIN and $LOCKBROKER_BIN; list every file in EXTRA_DIST.
EXTRA_DIST +=
