# src/resp: add each .c and .h to the list, one a line.
noinst_LIBRARIES += src/resp/libresp.a
src_resp_libresp_a_SOURCES = \
	src/resp/ask.c \
	src/resp/ask.h \
	src/resp/ask_write.c \
	src/resp/commands.c \
	src/resp/commands.def \
	src/resp/commands.h \
	src/resp/lua_form.c \
	src/resp/lua_form.h \
	src/resp/lua_key.c \
	src/resp/lua_machine.c \
	src/resp/lua_machine.h \
	src/resp/lua_meaning.c \
	src/resp/lua_meaning.h \
	src/resp/lua_text.c \
	src/resp/lua_text.h \
	src/resp/lua_words.c \
	src/resp/lua_words.h \
	src/resp/scripts.c \
	src/resp/scripts.def \
	src/resp/scripts.h \
	src/resp/scripts_ask.c \
	src/resp/sha1.c \
	src/resp/sha1.h
