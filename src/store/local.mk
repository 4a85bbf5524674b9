# src/store: add each .c and .h to the list, one a line.
noinst_LIBRARIES += src/store/libstore.a
src_store_libstore_a_SOURCES =
