# src/http: add each .c and .h to the list, one a line.
noinst_LIBRARIES += src/http/libhttp.a
src_http_libhttp_a_SOURCES = \
	src/http/basic.c \
	src/http/basic.h \
	src/http/exposition.c \
	src/http/exposition.h \
	src/http/listen.c \
	src/http/listen.h \
	src/http/page/sources.h \
	src/http/path.c \
	src/http/path.h \
	src/http/server.c \
	src/http/server.h \
	src/http/visits.c \
	src/http/visits.h

# The page for people: what is in src/http/page becomes strings in a built file.
page_sources = src/http/page/page.html src/http/page/page.css \
	src/http/page/page.js src/http/page/draw.js
src_http_libhttp_a_CFLAGS = $(AM_CFLAGS) $(NO_OVERLENGTH)
nodist_src_http_libhttp_a_SOURCES = src/http/page/sources.c
EXTRA_DIST += src/http/page/embed.awk $(page_sources)
CLEANFILES += src/http/page/sources.c

src/http/page/sources.c: src/http/page/embed.awk $(page_sources)
	$(AM_V_GEN)$(MKDIR_P) src/http/page && cd $(srcdir) && \
	$(AWK) -f src/http/page/embed.awk $(page_sources) </dev/null \
		>$(abs_top_builddir)/$@.tmp && \
	mv $(abs_top_builddir)/$@.tmp $(abs_top_builddir)/$@
