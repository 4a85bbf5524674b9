# tests/sim: the simulator, which runs the real core and the real scripts
# under virtual time. Links $(LIB_CORE) $(LIB_STORE) $(LIB_LUA) $(LIB_BASE) and
# $(LUA_LIBS); compile with $(LUA_CFLAGS) in its CPPFLAGS.
if HAVE_LUA
endif
