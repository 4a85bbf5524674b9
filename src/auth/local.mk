# src/auth: add each .c and .h to the list, one a line.
noinst_LIBRARIES += src/auth/libauth.a
src_auth_libauth_a_SOURCES = \
	src/auth/auth.h \
	src/auth/hasher.c \
	src/auth/hasher.h \
	src/auth/pattern.c \
	src/auth/pattern.h \
	src/auth/secret.c \
	src/auth/secret.h \
	src/auth/users.c \
	src/auth/users.h
