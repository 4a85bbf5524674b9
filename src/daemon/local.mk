# src/daemon: add each .c and .h to the list, one a line.
noinst_LIBRARIES += src/daemon/libdaemon.a
src_daemon_libdaemon_a_SOURCES =

if BUILD_DAEMON
sbin_PROGRAMS += lockbrokerd
lockbrokerd_SOURCES = src/main.c
lockbrokerd_LDADD = $(LIB_DAEMON) $(LIB_FRONT) $(LIB_REDIS) $(LIB_CONFIG) \
	$(LIB_WIRE) $(LIB_CORE) $(LIB_STORE) $(LIB_LUA) $(LIB_BASE) \
	$(LIBEVENT_LIBS) $(HIREDIS_SSL_LIBS) $(HIREDIS_LIBS) $(YAML_LIBS)
endif
