# src/http: add each .c and .h to the list, one a line.
noinst_LIBRARIES += src/http/libhttp.a
src_http_libhttp_a_SOURCES = \
	src/http/basic.c \
	src/http/basic.h \
	src/http/exposition.c \
	src/http/exposition.h \
	src/http/limits.c \
	src/http/limits.h \
	src/http/listen.c \
	src/http/listen.h \
	src/http/path.c \
	src/http/path.h \
	src/http/server.c \
	src/http/server.h
