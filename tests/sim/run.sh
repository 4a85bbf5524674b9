#!/bin/sh
# The simulator in `make check`: seeds with faults, seeds without, and two runs
# of the same seeds compared.  The numbers are fixed, so that every run does the
# same.  SIM_SEEDS makes it longer.
set -e
sim=${LOCKBROKER_BUILD:-.}/tests/sim/sim
"$sim" --jobs 2 --seed 1 --seeds "${SIM_SEEDS:-1400}"
"$sim" --seed 100001 --seeds 300 --faults none
"$sim" --seed 200001 --seeds 25 --twice
