# packaging: how lockbroker gets to where it runs. `make deb` leaves packages in
# the folder deb of the build directory, `make release` all of a release in the
# folder release.
EXTRA_DIST += packaging/deb \
	packaging/helm/Chart.yaml \
	packaging/helm/lockbroker-alerts.yaml \
	packaging/helm/templates/configmap.yaml \
	packaging/helm/templates/daemonset.yaml \
	packaging/helm/templates/example.yaml \
	packaging/helm/templates/monitor.yaml \
	packaging/helm/templates/namespace.yaml \
	packaging/helm/templates/networkpolicy.yaml \
	packaging/helm/templates/poddisruptionbudget.yaml \
	packaging/helm/values.yaml \
	packaging/kubernetes \
	packaging/release \
	packaging/sbom \
	packaging/tar \
	packaging/debian/changelog \
	packaging/debian/control \
	packaging/debian/copyright \
	packaging/debian/liblockbroker-dev.docs \
	packaging/debian/liblockbroker-dev.install \
	packaging/debian/liblockbroker0.install \
	packaging/debian/liblockbroker0.symbols \
	packaging/debian/lockbroker.install \
	packaging/debian/lockbrokerd.install \
	packaging/debian/lockbrokerd.lintian-overrides \
	packaging/debian/lockbrokerd.postinst \
	packaging/debian/lockbrokerd.postrm \
	packaging/debian/lockbrokerd.prerm \
	packaging/debian/lockbrokerd.yaml \
	packaging/debian/node-lockbroker.docs \
	packaging/debian/node-lockbroker.install \
	packaging/debian/not-installed \
	packaging/debian/python3-lockbroker.docs \
	packaging/debian/rules \
	packaging/debian/source/format \
	packaging/debian/tests/control \
	packaging/debian/tests/lock

# The version stands in configure.ac; the script gets it from here.
deb release:
	$(srcdir)/packaging/$@ $(PACKAGE_VERSION) .
.PHONY: deb release
