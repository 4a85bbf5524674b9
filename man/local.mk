# man: mdoc pages, clean under `mandoc -T lint -W warning`.
dist_man_MANS +=
dist_man_MANS += man/lockbroker.1
dist_man_MANS += man/lockbroker-protocol.7
