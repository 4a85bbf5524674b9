# src/redis: add each .c and .h to the list, one a line.
noinst_LIBRARIES += src/redis/libredis.a
src_redis_libredis_a_SOURCES =
