# tests/unit: pure tests. Each program links only the layer it tests and what
# is below it. To add one (the name must be unique in the tree):
#
#	check_PROGRAMS += tests/unit/test_buf
#	TESTS += tests/unit/test_buf
#	tests_unit_test_buf_SOURCES = tests/unit/test_buf.c
#	tests_unit_test_buf_CPPFLAGS = $(AM_CPPFLAGS) $(CHECK_CFLAGS)
#	tests_unit_test_buf_LDADD = $(LIB_BASE) $(CHECK_LIBS)
if HAVE_CHECK
endif
