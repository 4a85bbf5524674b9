# src/redis: add each .c and .h to the list, one a line.
noinst_LIBRARIES += src/redis/libredis.a
src_redis_libredis_a_SOURCES = \
	src/redis/cluster_calls.c \
	src/redis/cluster_map.c \
	src/redis/cluster_map.h \
	src/redis/cluster_nodes.c \
	src/redis/cluster_state.h \
	src/redis/data_dir.c \
	src/redis/data_dir.h \
	src/redis/embedded.c \
	src/redis/embedded.h \
	src/redis/info.c \
	src/redis/info.h \
	src/redis/io.c \
	src/redis/io.h \
	src/redis/io_state.h \
	src/redis/link.c \
	src/redis/link.h \
	src/redis/link_greet.c \
	src/redis/link_io.c \
	src/redis/link_state.h \
	src/redis/once.c \
	src/redis/once.h \
	src/redis/pool.c \
	src/redis/pool.h \
	src/redis/pool_calls.c \
	src/redis/pool_stale.c \
	src/redis/pool_state.h \
	src/redis/probe.c \
	src/redis/probe.h \
	src/redis/probe_server.c \
	src/redis/probe_state.h \
	src/redis/redis.c \
	src/redis/redis.h \
	src/redis/redis_tls.c \
	src/redis/resolve.c \
	src/redis/resolve.h \
	src/redis/sentinels.c \
	src/redis/sentinels.h \
	src/redis/server_dir.c \
	src/redis/server_dir.h \
	src/redis/subscriber.c \
	src/redis/subscriber.h \
	src/redis/topo_cluster.c \
	src/redis/topo_sentinel.c \
	src/redis/topo_servers.c \
	src/redis/topology.h
