# man: mdoc pages, clean under `mandoc -T lint -W warning`.
dist_man_MANS +=
dist_man_MANS += man/lockbroker.1
dist_man_MANS += man/lockbroker.3
dist_man_MANS += man/lockbroker-metrics.7
dist_man_MANS += man/lockbroker-protocol.7
dist_man_MANS += man/lockbroker-recipes.7
dist_man_MANS += man/lockbroker-resp.7
dist_man_MANS += man/lockbrokerd.yaml.5
dist_man_MANS += man/lockbrokerd.8

# The pages name every verb, option, setting, statistic and exit status. They
# are compared with the sources, which this must be able to read.
TESTS += tests/unit/test_manual.py
EXTRA_DIST += tests/unit/test_manual.py
