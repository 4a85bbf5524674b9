# conf: commented examples; nothing is installed where the daemon reads it.
EXTRA_DIST += \
	conf/cluster.yaml \
	conf/lockbrokerd.yaml \
	conf/quorum.yaml \
	conf/sentinel.yaml \
	conf/standalone.yaml
