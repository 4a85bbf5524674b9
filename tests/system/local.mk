# tests/system: the real programs against a real redis-server. They are found
# in $top_builddir; list every file in EXTRA_DIST.
EXTRA_DIST +=
