# src/front: add each .c and .h to the list, one a line.
noinst_LIBRARIES += src/front/libfront.a
src_front_libfront_a_SOURCES = \
	src/front/conn.c \
	src/front/conn.h \
	src/front/front.c \
	src/front/front.h \
	src/front/gate.c \
	src/front/gate.h \
	src/front/heartbeat.c \
	src/front/listen.c \
	src/front/listener.c \
	src/front/listener.h \
	src/front/output.c \
	src/front/pending.c \
	src/front/places.c \
	src/front/proxied.c \
	src/front/relayed.c \
	src/front/sockopt.c \
	src/front/sockopt.h \
	src/front/state.h \
	src/front/timeouts.c \
	src/front/turns.c
