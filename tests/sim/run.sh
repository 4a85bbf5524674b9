#!/bin/sh
# The simulator in `make check`: for each topology, seeds with faults, seeds
# without, two runs of the same seeds compared, and some with many brokers; then
# some with pollers.  The numbers are fixed, so that every run does the same.
# SIM_SEEDS makes it longer: so many for each topology; SIM_PART=40 runs a
# fortieth of everything.  At the end, one line for each topology.
sim=${LOCKBROKER_BUILD:-.}/tests/sim/sim
out=$(mktemp) || exit 1
trap 'rm -f "$out"' EXIT

# of SEEDS: as many of them as this run has
of() {
	echo $((($1 + ${SIM_PART:-1} - 1) / ${SIM_PART:-1}))
}

# TOPOLOGY SEEDS SEEDS-WITHOUT-FAULTS
run() {
	"$sim" --topology "$1" --jobs 2 --seed 1 \
		--seeds "$(of "${SIM_SEEDS:-$2}")"
	"$sim" --topology "$1" --jobs 2 --seed 100001 --seeds "$(of "$3")" \
		--faults none
	"$sim" --topology "$1" --seed 200001 --seeds "$(of 25)" --twice
	"$sim" --topology "$1" --jobs 2 --seed 300001 --seeds "$(of 30)" \
		--brokers 16
}

# The same with pollers.
poll() {
	"$sim" --topology "$1" --jobs 2 --seed 1 --seeds "$(of "$2")" \
		--tokens
}

# And with threads of programs that listen.
threads() {
	"$sim" --topology "$1" --jobs 2 --seed 1 --seeds "$(of "$2")" \
		--redisson
}

# The kernel alone.
alone() {
	"$sim" --topology "$1" --jobs 2 --seed 1 --seeds "$(of "$2")" \
		--parts none
}

# And with brokers that are replaced.
for topology in standalone embedded; do
	"$sim" --topology "$topology" --leave --seed 1 --seeds "$(of 40)" ||
		exit 1
done

{
	run standalone 3000 600
	run embedded 1500 100
	run sentinel 700 100
	run replicated 300 100
	run quorum 700 100
	run cluster 700 100
	poll standalone 500
	poll embedded 100
	poll sentinel 200
	poll replicated 100
	poll quorum 50
	poll cluster 200
	threads standalone 300
	threads embedded 50
	threads sentinel 50
	alone standalone 100
	alone embedded 50
	alone sentinel 50
	alone replicated 50
	alone cluster 50
} | tee "$out"

awk '$3 == "seeds," {
	seeds[$1] += $2
	days[$1] += $4
	bad[$1] += $NF != "good"
	runs++
}
END {
	for (t in seeds)
		printf "%s %d seeds, %.2f simulated days%s\n", t, seeds[t],
			days[t], bad[t] ? ", FAILED" : ""
	for (t in bad)
		failed += bad[t]
	exit failed || runs != 6 * 5 + 3 + 5
}' "$out"
