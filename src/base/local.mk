# src/base: add each .c and .h to the list, one a line.
noinst_LIBRARIES += src/base/libbase.a
src_base_libbase_a_SOURCES = \
	src/base/address.c \
	src/base/address.h \
	src/base/buf.c \
	src/base/buf.h \
	src/base/crc16.c \
	src/base/crc16.h \
	src/base/err.c \
	src/base/err.h \
	src/base/field.h \
	src/base/heap.c \
	src/base/heap.h \
	src/base/human.c \
	src/base/human.h \
	src/base/json.c \
	src/base/json.h \
	src/base/limits.h \
	src/base/list.h \
	src/base/log.c \
	src/base/log.h \
	src/base/map.c \
	src/base/map.h \
	src/base/now.c \
	src/base/now.h \
	src/base/parse.c \
	src/base/parse.h \
	src/base/slips.c \
	src/base/slips.h \
	src/base/span.h \
	src/base/status.h \
	src/base/streams.c \
	src/base/streams.h \
	src/base/syslog_out.c \
	src/base/syslog_out.h \
	src/base/table.c \
	src/base/table.h \
	src/base/text.c \
	src/base/text.h \
	src/base/times.h \
	src/base/timeval.h \
	src/base/verb.h \
	src/base/verbs.def \
	src/base/xmalloc.c \
	src/base/xmalloc.h
