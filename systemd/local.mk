# systemd: the units and the user they run as.
EXTRA_DIST +=
