# src/daemon: add each .c and .h to the list, one a line.
noinst_LIBRARIES += src/daemon/libdaemon.a
src_daemon_libdaemon_a_SOURCES = \
	src/daemon/acl.c \
	src/daemon/acl.h \
	src/daemon/alarm.c \
	src/daemon/alarm.h \
	src/daemon/bridge.c \
	src/daemon/bridge.h \
	src/daemon/broker.c \
	src/daemon/broker.h \
	src/daemon/broker_life.c \
	src/daemon/broker_places.c \
	src/daemon/broker_stages.c \
	src/daemon/carry.c \
	src/daemon/daemon.c \
	src/daemon/daemon.h \
	src/daemon/envoy.c \
	src/daemon/envoy.h \
	src/daemon/handlers.c \
	src/daemon/heir.c \
	src/daemon/heir.h \
	src/daemon/identity.c \
	src/daemon/identity.h \
	src/daemon/leavers.c \
	src/daemon/leavers.h \
	src/daemon/lifecycle.c \
	src/daemon/lifecycle.h \
	src/daemon/lists.c \
	src/daemon/login.c \
	src/daemon/login.h \
	src/daemon/loop.c \
	src/daemon/loop.h \
	src/daemon/merge.c \
	src/daemon/merge.h \
	src/daemon/merge_names.c \
	src/daemon/merge_names.h \
	src/daemon/monitor.c \
	src/daemon/monitor.h \
	src/daemon/monitor_answer.c \
	src/daemon/monitor_auth.c \
	src/daemon/monitor_health.c \
	src/daemon/monitor_lock.c \
	src/daemon/monitor_metrics.c \
	src/daemon/monitor_names.c \
	src/daemon/monitor_nodes.c \
	src/daemon/monitor_page.c \
	src/daemon/monitor_state.h \
	src/daemon/monitor_status.c \
	src/daemon/monitor_told.c \
	src/daemon/origin.c \
	src/daemon/origin.h \
	src/daemon/reread.c \
	src/daemon/reread.h \
	src/daemon/resp.c \
	src/daemon/resp.h \
	src/daemon/resp_audience.c \
	src/daemon/resp_audience.h \
	src/daemon/resp_channels.c \
	src/daemon/resp_conn.c \
	src/daemon/resp_keys.c \
	src/daemon/resp_look.c \
	src/daemon/resp_multi.c \
	src/daemon/resp_mutex.c \
	src/daemon/resp_redisson.c \
	src/daemon/resp_scripts.c \
	src/daemon/resp_server.c \
	src/daemon/resp_shared.c \
	src/daemon/resp_turns.c \
	src/daemon/resumption.c \
	src/daemon/resumption.h \
	src/daemon/settings.c \
	src/daemon/settings.h \
	src/daemon/starter.c \
	src/daemon/starter.h \
	src/daemon/statistics.c \
	src/daemon/statistics.def \
	src/daemon/statistics.h \
	src/daemon/succession.c \
	src/daemon/succession.h \
	src/daemon/succession_state.h \
	src/daemon/successor.c \
	src/daemon/systemd.c \
	src/daemon/systemd.h \
	src/daemon/takeover.c \
	src/daemon/takeover.h \
	src/daemon/tls.c \
	src/daemon/tls.h \
	src/daemon/views.c \
	src/daemon/views.h

sbin_PROGRAMS += lockbrokerd
lockbrokerd_SOURCES = src/main.c
lockbrokerd_LDADD = $(LIB_DAEMON) $(LIB_HTTP) $(LIB_FRONT) $(LIB_REDIS) $(LIB_RELAY) \
	$(LIB_CONFIG) $(LIB_AUTH) $(LIB_RESP) $(LIB_WIRE) $(LIB_CORE) \
	$(LIB_STORE) $(LIB_LUA) $(LIB_BASE) $(LIBEVENT_LIBS) $(HIREDIS_LIBS) \
	$(YAML_LIBS) $(AUTH_LIBS)
