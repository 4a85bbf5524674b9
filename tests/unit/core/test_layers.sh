#!/bin/sh
# No module uses one that it may not use (tests/layers).
command -v nm > /dev/null && command -v python3 > /dev/null || exit 77
exec "$LOCKBROKER_SRC/tests/layers" "$top_builddir"
