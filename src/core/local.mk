# src/core: add each .c and .h to the list, one a line.
noinst_LIBRARIES += src/core/libcore.a
src_core_libcore_a_SOURCES =
