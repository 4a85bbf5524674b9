# src/config: add each .c and .h to the list, one a line.
noinst_LIBRARIES += src/config/libconfig.a
src_config_libconfig_a_SOURCES =
