# conf: commented examples; nothing is installed where the daemon reads it.
EXTRA_DIST +=
