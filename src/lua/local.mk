# src/lua: the scripts that run inside Redis, one a file. NAME.lua in
# lua_scripts becomes the string lua_NAME in the built file scripts.c, to be
# declared in lua.h; what is only included by others ("-- include FILE" on
# a line of its own) stands in lua_includes.
lua_scripts = src/lua/keep.lua src/lua/acquire.lua
lua_includes = src/lua/guard.lua src/lua/values.lua src/lua/grab.lua src/lua/renew.lua \
	src/lua/drop.lua src/lua/claim.lua src/lua/give.lua src/lua/define.lua src/lua/odd.lua \
	src/lua/answer.lua src/lua/lease.lua src/lua/end.lua src/lua/object.lua \
	src/lua/semaphore.lua src/lua/latch.lua src/lua/barrier.lua src/lua/look.lua \
	src/lua/token.lua src/lua/release.lua src/lua/adopt.lua

noinst_LIBRARIES += src/lua/liblua.a
src_lua_liblua_a_CFLAGS = $(AM_CFLAGS) $(NO_OVERLENGTH)
src_lua_liblua_a_SOURCES = src/lua/lua.h
nodist_src_lua_liblua_a_SOURCES = src/lua/scripts.c
EXTRA_DIST += src/lua/embed.awk $(lua_scripts) $(lua_includes)
CLEANFILES += src/lua/scripts.c

src/lua/scripts.c: src/lua/embed.awk $(lua_scripts) $(lua_includes)
	$(AM_V_GEN)$(MKDIR_P) src/lua && cd $(srcdir) && \
	$(AWK) -f src/lua/embed.awk $(lua_scripts) </dev/null \
		>$(abs_top_builddir)/$@.tmp && \
	mv $(abs_top_builddir)/$@.tmp $(abs_top_builddir)/$@
