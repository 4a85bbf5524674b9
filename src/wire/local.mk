# src/wire: add each .c and .h to the list, one a line.
noinst_LIBRARIES += src/wire/libwire.a
src_wire_libwire_a_SOURCES = \
	src/wire/lines.c \
	src/wire/option.def \
	src/wire/protocol.h \
	src/wire/reply.h \
	src/wire/request.c \
	src/wire/request.h \
	src/wire/resp_reply.c \
	src/wire/resp_request.c \
	src/wire/resp_value.c \
	src/wire/resp_value.h \
	src/wire/value.c \
	src/wire/value.h \
	src/wire/verbs.c \
	src/wire/verbs.h
