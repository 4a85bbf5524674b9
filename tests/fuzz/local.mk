# tests/fuzz: targets with LLVMFuzzerTestOneInput(). In a usual build they are
# linked with a main() that runs the corpus, in TESTS; with --enable-fuzzers
# the engine's main() takes its place, and nothing is in TESTS. To add one:
#
#	fuzz_targets += tests/fuzz/fuzz_foo
#	tests_fuzz_fuzz_foo_SOURCES = tests/fuzz/fuzz_foo.c $(fuzz_main)
#	tests_fuzz_fuzz_foo_CPPFLAGS = $(AM_CPPFLAGS) \
#		-DCORPUS='"tests/fuzz/corpus/foo"'
#	tests_fuzz_fuzz_foo_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_ENGINE)
#	tests_fuzz_fuzz_foo_LDADD = $(LIB_BASE)
fuzz_targets =
if FUZZERS
fuzz_main =
noinst_PROGRAMS += $(fuzz_targets)
else
fuzz_main = tests/fuzz/corpus_main.c
check_PROGRAMS += $(fuzz_targets)
TESTS += $(fuzz_targets)
endif
EXTRA_DIST += tests/fuzz/corpus tests/fuzz/corpus_main.c

fuzz_targets += tests/fuzz/fuzz_config
tests_fuzz_fuzz_config_SOURCES = tests/fuzz/fuzz_config.c $(fuzz_main)
tests_fuzz_fuzz_config_CPPFLAGS = $(AM_CPPFLAGS) \
	-DCORPUS='"tests/fuzz/corpus/config"'
tests_fuzz_fuzz_config_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_ENGINE)
tests_fuzz_fuzz_config_LDADD = $(LIB_CONFIG) $(LIB_AUTH) $(LIB_BASE) $(YAML_LIBS) \
	$(AUTH_LIBS)

fuzz_targets += tests/fuzz/fuzz_request
tests_fuzz_fuzz_request_SOURCES = tests/fuzz/fuzz_request.c $(fuzz_main)
tests_fuzz_fuzz_request_CPPFLAGS = $(AM_CPPFLAGS) \
	-DCORPUS='"tests/fuzz/corpus/request"'
tests_fuzz_fuzz_request_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_ENGINE)
tests_fuzz_fuzz_request_LDADD = $(LIB_WIRE) $(LIB_BASE)

fuzz_targets += tests/fuzz/fuzz_users
tests_fuzz_fuzz_users_SOURCES = tests/fuzz/fuzz_users.c $(fuzz_main)
tests_fuzz_fuzz_users_CPPFLAGS = $(AM_CPPFLAGS) \
	-DCORPUS='"tests/fuzz/corpus/users"'
tests_fuzz_fuzz_users_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_ENGINE)
tests_fuzz_fuzz_users_LDADD = $(LIB_AUTH) $(LIB_BASE) $(AUTH_LIBS)

fuzz_targets += tests/fuzz/fuzz_proxy_header
tests_fuzz_fuzz_proxy_header_SOURCES = tests/fuzz/fuzz_proxy_header.c \
	$(fuzz_main)
tests_fuzz_fuzz_proxy_header_CPPFLAGS = $(AM_CPPFLAGS) \
	-DCORPUS='"tests/fuzz/corpus/proxy_header"'
tests_fuzz_fuzz_proxy_header_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_ENGINE)
tests_fuzz_fuzz_proxy_header_LDADD = $(LIB_BASE)

fuzz_targets += tests/fuzz/fuzz_packet
tests_fuzz_fuzz_packet_SOURCES = tests/fuzz/fuzz_packet.c $(fuzz_main)
tests_fuzz_fuzz_packet_CPPFLAGS = $(AM_CPPFLAGS) \
	-DCORPUS='"tests/fuzz/corpus/packet"'
tests_fuzz_fuzz_packet_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_ENGINE)
tests_fuzz_fuzz_packet_LDADD = $(LIB_RELAY) $(LIB_BASE)

fuzz_targets += tests/fuzz/fuzz_resp
tests_fuzz_fuzz_resp_SOURCES = tests/fuzz/fuzz_resp.c $(fuzz_main)
tests_fuzz_fuzz_resp_CPPFLAGS = $(AM_CPPFLAGS) \
	-DCORPUS='"tests/fuzz/corpus/resp"'
tests_fuzz_fuzz_resp_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_ENGINE)
tests_fuzz_fuzz_resp_LDADD = $(LIB_WIRE) $(LIB_BASE)

fuzz_targets += tests/fuzz/fuzz_http
tests_fuzz_fuzz_http_SOURCES = tests/fuzz/fuzz_http.c $(fuzz_main)
tests_fuzz_fuzz_http_CPPFLAGS = $(AM_CPPFLAGS) \
	-DCORPUS='"tests/fuzz/corpus/http"'
tests_fuzz_fuzz_http_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_ENGINE)
tests_fuzz_fuzz_http_LDADD = $(LIB_HTTP) $(LIB_BASE) $(LIBEVENT_LIBS)
