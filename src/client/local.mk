# src/client: add each .c and .h to the list, one a line.
noinst_LIBRARIES += src/client/libclient.a
src_client_libclient_a_SOURCES = \
	src/client/addresses.c \
	src/client/addresses.h \
	src/client/client.c \
	src/client/client.h \
	src/client/lookup.c \
	src/client/lookup.h \
	src/client/message.c \
	src/client/message.h \
	src/client/reconnect.c \
	src/client/reconnect.h
