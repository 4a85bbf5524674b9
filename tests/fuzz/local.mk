# tests/fuzz: targets with LLVMFuzzerTestOneInput(). In a usual build they are
# linked with a main() that runs the corpus, in TESTS; with --enable-fuzzers
# add $(FUZZ_ENGINE) to their LDFLAGS in its place.
if FUZZERS
else
endif
