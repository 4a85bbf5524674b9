# src/tls: the program that speaks TLS. It is the only one that links OpenSSL.
if HAVE_TLS
pkglibexec_PROGRAMS += lockbroker-tls
endif
lockbroker_tls_SOURCES = \
	src/tls/accept.c \
	src/tls/accept.h \
	src/tls/context.c \
	src/tls/context.h \
	src/tls/control.c \
	src/tls/control.h \
	src/tls/dial.c \
	src/tls/dial.h \
	src/tls/engine.h \
	src/tls/main.c \
	src/tls/pipe.c \
	src/tls/pipe.h \
	src/tls/wording.c \
	src/tls/wording.h
lockbroker_tls_CFLAGS = $(AM_CFLAGS) $(OPENSSL_CFLAGS)
lockbroker_tls_LDADD = $(LIB_RELAY) $(LIB_FRONT) $(LIB_BASE) \
	$(LIBEVENT_LIBS) $(OPENSSL_LIBS)
