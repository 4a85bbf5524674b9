# src/relay: add each .c and .h to the list, one a line.
noinst_LIBRARIES += src/relay/librelay.a
src_relay_librelay_a_SOURCES = \
	src/relay/channel.c \
	src/relay/channel.h \
	src/relay/greeting.c \
	src/relay/packet.c \
	src/relay/packet.h \
	src/relay/relay.c \
	src/relay/relay.h \
	src/relay/spawn.c \
	src/relay/spawn.h
