# conf: commented examples; nothing is installed where the daemon reads it.
examplesdir = $(docdir)/examples
dist_examples_DATA = \
	conf/cluster.yaml \
	conf/compose.yaml \
	conf/container.yaml \
	conf/kubernetes.yaml \
	conf/lockbroker-alerts.yaml \
	conf/lockbroker-dashboard.json \
	conf/lockbrokerd.yaml \
	conf/quorum.yaml \
	conf/sentinel.yaml \
	conf/standalone.yaml \
	conf/try.yaml
