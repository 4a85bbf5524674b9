# man: mdoc pages, clean under `mandoc -T lint -W warning`.
dist_man_MANS +=
dist_man_MANS += man/lockbroker.1
dist_man_MANS += man/lockbroker.3
dist_man_MANS += man/lockbroker.7
dist_man_MANS += man/lockbroker-admin.7
dist_man_MANS += man/lockbroker-guarantees.7
dist_man_MANS += man/lockbroker-log.7
dist_man_MANS += man/lockbroker-metrics.7
dist_man_MANS += man/lockbroker-protocol.7
dist_man_MANS += man/lockbroker-recipes.7
dist_man_MANS += man/lockbroker-resp.7
dist_man_MANS += man/lockbrokerd.yaml.5
dist_man_MANS += man/lockbrokerd.8

# The pages name every verb, option, setting, statistic and exit status. They
# are compared with the sources, which this must be able to read.
TESTS += tests/unit/test_manual.py
EXTRA_DIST += tests/unit/test_manual.py tests/unit/tables.py

# For a browser, in the folder html of the build directory.
EXTRA_DIST += man/html man/html.css man/html.js
html-local:
	$(AM_V_GEN)$(srcdir)/man/html html $(PACKAGE_VERSION) \
		$$(for page in $(dist_man_MANS); do echo $(srcdir)/$$page; done)
clean-local: clean-html
clean-html:
	rm -rf html
.PHONY: clean-html

# The client that lockbroker-protocol(7) prints, as a file to copy.
nodist_examples_DATA = man/client.py
CLEANFILES += man/client.py
man/client.py: man/lockbroker-protocol.7
	$(AM_V_GEN)$(MKDIR_P) man && $(SED) -n \
		-e '/^\.\\" client: lock$$/,/^\.Ed$$/{' \
		-e '/^\./d; s/^\\&//; s/\\e/\\/g; p; }' \
		$(srcdir)/man/lockbroker-protocol.7 >$@.tmp && mv $@.tmp $@
