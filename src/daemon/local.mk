# src/daemon: add each .c and .h to the list, one a line.
noinst_LIBRARIES += src/daemon/libdaemon.a
src_daemon_libdaemon_a_SOURCES = \
	src/daemon/bridge/alarm.c \
	src/daemon/bridge/alarm.h \
	src/daemon/bridge/bridge.c \
	src/daemon/bridge/bridge.h \
	src/daemon/bridge/broker.c \
	src/daemon/bridge/broker.h \
	src/daemon/bridge/broker_life.c \
	src/daemon/bridge/broker_places.c \
	src/daemon/bridge/broker_stages.c \
	src/daemon/bridge/effects_run.c \
	src/daemon/bridge/tls.c \
	src/daemon/bridge/tls.h \
	src/daemon/monitor/monitor.c \
	src/daemon/monitor/monitor.h \
	src/daemon/monitor/monitor_answer.c \
	src/daemon/monitor/monitor_auth.c \
	src/daemon/monitor/monitor_health.c \
	src/daemon/monitor/monitor_lock.c \
	src/daemon/monitor/monitor_metrics.c \
	src/daemon/monitor/monitor_names.c \
	src/daemon/monitor/monitor_nodes.c \
	src/daemon/monitor/monitor_page.c \
	src/daemon/monitor/monitor_state.h \
	src/daemon/monitor/monitor_status.c \
	src/daemon/monitor/statistics.c \
	src/daemon/monitor/statistics.def \
	src/daemon/monitor/statistics.h \
	src/daemon/process/daemon.c \
	src/daemon/process/daemon.h \
	src/daemon/process/lifecycle.c \
	src/daemon/process/lifecycle.h \
	src/daemon/process/loop.c \
	src/daemon/process/loop.h \
	src/daemon/process/reread.c \
	src/daemon/process/reread.h \
	src/daemon/process/settings.c \
	src/daemon/process/settings.h \
	src/daemon/process/systemd.c \
	src/daemon/process/systemd.h \
	src/daemon/replace/envoy.c \
	src/daemon/replace/envoy.h \
	src/daemon/replace/leavers.c \
	src/daemon/replace/leavers.h \
	src/daemon/replace/resume_elsewhere.c \
	src/daemon/replace/resume_elsewhere.h \
	src/daemon/replace/takeover.c \
	src/daemon/replace/takeover.h \
	src/daemon/replace/upgrade.c \
	src/daemon/replace/upgrade.h \
	src/daemon/replace/upgrade_argv.c \
	src/daemon/replace/upgrade_argv.h \
	src/daemon/replace/upgrade_child.c \
	src/daemon/replace/upgrade_child.h \
	src/daemon/replace/upgrade_next.c \
	src/daemon/replace/upgrade_spawn.c \
	src/daemon/replace/upgrade_spawn.h \
	src/daemon/replace/upgrade_state.h \
	src/daemon/resp/resp.c \
	src/daemon/resp/resp.h \
	src/daemon/resp/resp_audience.c \
	src/daemon/resp/resp_channels.c \
	src/daemon/resp/resp_conn.c \
	src/daemon/resp/resp_keys.c \
	src/daemon/resp/resp_look.c \
	src/daemon/resp/resp_multi.c \
	src/daemon/resp/resp_spring.c \
	src/daemon/resp/resp_redisson.c \
	src/daemon/resp/resp_scripts.c \
	src/daemon/resp/resp_server.c \
	src/daemon/resp/resp_shared.c \
	src/daemon/users/acl.c \
	src/daemon/users/acl.h \
	src/daemon/users/allowance.c \
	src/daemon/users/allowance.h \
	src/daemon/users/identity.c \
	src/daemon/users/identity.h \
	src/daemon/users/identity_state.h \
	src/daemon/users/login.c \
	src/daemon/users/login.h \
	src/daemon/users/rights.c \
	src/daemon/verbs/handlers.c \
	src/daemon/verbs/lists.c

sbin_PROGRAMS += lockbrokerd
lockbrokerd_SOURCES = src/main.c
lockbrokerd_LDADD = $(LIB_DAEMON) $(LIB_HTTP) $(LIB_FRONT) $(LIB_REDIS) $(LIB_RELAY) \
	$(LIB_CONFIG) $(LIB_AUTH) $(LIB_RESP) $(LIB_WIRE) $(LIB_CORE) \
	$(LIB_STORE) $(LIB_LUA) $(LIB_BASE) $(LIBEVENT_LIBS) $(HIREDIS_LIBS) \
	$(YAML_LIBS) $(AUTH_LIBS)
