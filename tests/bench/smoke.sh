#!/bin/sh
# Sees that the load driver works. Measures nothing: see README.md.
command -v redis-server >/dev/null || exit 77
exec python3 "$LOCKBROKER_SRC/tests/bench/run" --smoke "$top_builddir"
