# systemd: the units and the user they run as. Paths are put in here, not by
# configure, which would leave ${exec_prefix} in them.
EXTRA_DIST += systemd/lockbrokerd.service.in systemd/lockbrokerd.socket \
	systemd/lockbrokerd.conf
CLEANFILES += systemd/lockbrokerd.service

if HAVE_SYSTEMD
systemdsystemunit_DATA += systemd/lockbrokerd.socket \
	systemd/lockbrokerd.service
endif
if HAVE_SYSUSERS
sysusers_DATA += systemd/lockbrokerd.conf
endif

systemd/lockbrokerd.service: systemd/lockbrokerd.service.in Makefile
	$(AM_V_GEN)$(MKDIR_P) systemd && \
	$(SED) -e 's|@sbindir[@]|$(sbindir)|g' \
		$(srcdir)/systemd/lockbrokerd.service.in >$@.tmp && mv $@.tmp $@
