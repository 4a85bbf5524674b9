# src/store: add each .c and .h to the list, one a line.
noinst_LIBRARIES += src/store/libstore.a
src_store_libstore_a_SOURCES = \
	src/store/script_call.c \
	src/store/script_call.h \
	src/store/decode.c \
	src/store/gather.c \
	src/store/gather.h \
	src/store/op.h \
	src/store/op_rows.c \
	src/store/op_rows.h \
	src/store/ops.def \
	src/store/put.c \
	src/store/put.h \
	src/store/refusal.c \
	src/store/refusal.h
