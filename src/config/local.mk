# src/config: add each .c and .h to the list, one a line.
noinst_LIBRARIES += src/config/libconfig.a
src_config_libconfig_a_SOURCES = \
	src/config/auth.c \
	src/config/config.c \
	src/config/config.h \
	src/config/endpoints.c \
	src/config/faults.c \
	src/config/faults.h \
	src/config/fields.c \
	src/config/fields.def \
	src/config/fields.h \
	src/config/file.c \
	src/config/file.h \
	src/config/node.c \
	src/config/node.h \
	src/config/overrides.c \
	src/config/overrides.h \
	src/config/rules.c \
	src/config/rules.h \
	src/config/script_texts.c \
	src/config/types.c \
	src/config/values.c
