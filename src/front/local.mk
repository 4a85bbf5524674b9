# src/front: add each .c and .h to the list, one a line.
noinst_LIBRARIES += src/front/libfront.a
src_front_libfront_a_SOURCES =
