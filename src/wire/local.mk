# src/wire: add each .c and .h to the list, one a line.
noinst_LIBRARIES += src/wire/libwire.a
src_wire_libwire_a_SOURCES =
