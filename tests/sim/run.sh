#!/bin/sh
# The simulator in `make check`: seeds with faults in two processes at once,
# seeds without, and two runs of the same seeds compared.  The numbers are
# fixed, so that every run does the same.  SIM_SEEDS makes it longer.
set -e
sim=${LOCKBROKER_BUILD:-.}/tests/sim/sim
half=$((${SIM_SEEDS:-1400} / 2))
"$sim" --seed 1 --seeds "$half" &
"$sim" --seed "$((half + 1))" --seeds "$half" || status=$?
wait $! || status=$?
[ "${status:-0}" -eq 0 ]
"$sim" --seed 100001 --seeds 300 --faults none
"$sim" --seed 200001 --seeds 25 --twice
