# src/cli: add each .c and .h to the list, one a line.
noinst_LIBRARIES += src/cli/libcli.a
src_cli_libcli_a_SOURCES =

if BUILD_CLI
bin_PROGRAMS += lockbroker
lockbroker_SOURCES = src/cli/main.c
lockbroker_LDADD = $(LIB_CLI) $(LIB_WIRE) $(LIB_BASE)
endif
