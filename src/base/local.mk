# src/base: add each .c and .h to the list, one a line.
noinst_LIBRARIES += src/base/libbase.a
src_base_libbase_a_SOURCES =
