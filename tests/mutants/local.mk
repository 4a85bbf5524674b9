# tests/mutants: rules taken out of the sources, one at a time. List every
# table in EXTRA_DIST.
EXTRA_DIST += \
	tests/mutants/README.md \
	tests/mutants/core.rules \
	tests/mutants/daemon.rules \
	tests/mutants/front.rules \
	tests/mutants/http.rules \
	tests/mutants/measure.rules \
	tests/mutants/redis.rules \
	tests/mutants/resp.rules \
	tests/mutants/run \
	tests/mutants/scripts.rules \
	tests/mutants/sync.rules \
	tests/mutants/wire.rules

mutants:
	$(srcdir)/tests/mutants/run $(MUTANTS)
.PHONY: mutants
