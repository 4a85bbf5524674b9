#!/bin/sh
# The simulator in `make check`: some thousands of seeds with faults, some
# hundred without, and two runs of the same seeds compared. SIM_SEEDS and
# SIM_BUDGET (seconds) make it longer.
set -e
sim=${LOCKBROKER_BUILD:-.}/tests/sim/sim
"$sim" --seeds "${SIM_SEEDS:-3000}" --budget "${SIM_BUDGET:-40}"
"$sim" --seed 100001 --seeds 500 --faults none --budget 10
"$sim" --seed 200001 --seeds 50 --twice
