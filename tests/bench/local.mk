# tests/bench: the load driver. Built by `make bench`, not by default: put
# programs in EXTRA_PROGRAMS and bench_programs.
bench_programs =

bench: $(bench_programs)
.PHONY: bench
