#!/bin/sh
# The long run of the simulator: chunks of fresh seeds, one topology after the
# other, until it is interrupted.  It goes on where the ledger ends, and keeps it
# up to date, so it can be stopped and started at any time.
#
#	SOAK_SECONDS=3600         stop after so long
#	SOAK_JOBS=2               processes
#	SOAK_TOPOLOGIES=quorum    only these
#	SOAK_CHUNK=400            seeds of a chunk
#	SOAK_LEDGER=FILE          another ledger
#
# Exit status 1: there were bad seeds.
top=$(dirname "$0")/../..
sim=${LOCKBROKER_BUILD:-.}/tests/sim/sim
ledger=${SOAK_LEDGER:-$top/tests/sim/ledger}
first=1000000001 # make check and ablations use small ones
out=$(mktemp) || exit 1
trap 'rm -f "$out"' EXIT
trap 'exit 130' INT TERM

# What was run: the commit, and a hash of all that decides a run.
version() {
	commit=$(git -C "$top" describe --always 2>/dev/null) ||
		commit=release
	tree=$(cd "$top" && find src tests/sim -type f -name '*.[ch]' \
		-o -type f -name '*.lua' -o -type f -name '*.def' |
		LC_ALL=C sort | xargs cat | sha1sum | cut -c1-12)
	echo "$commit $tree"
}

# TOPOLOGY: the seed behind the last one that was run
next_seed() {
	awk -v t="$1" -v n="$first" '$3 == t && $5 >= n { n = $5 + 1 }
		END { printf "%.0f\n", n }' "$ledger"
}

# COMMIT TREE TOPOLOGY FROM TO DAYS BAD: joined to the line that it goes on
note() {
	awk -v c="$1" -v v="$2" -v t="$3" -v from="$4" -v to="$5" \
		-v days="$6" -v bad="$7" '
	{ line[NR] = $0 }
	$2 == v && $3 == t && $5 + 1 == from { at = NR; f = $4; d = $6; b = $7 }
	END {
		if (at) {
			from = f
			days += d
			bad = b == "-" ? bad : bad == "-" ? b : b "," bad
		} else
			at = ++NR
		line[at] = sprintf("%s %s %s %s %s %.2f %s", c, v, t, from, to,
			days, bad)
		for (i = 1; i in line; i++)
			print line[i]
	}' "$ledger" > "$ledger.new" && mv "$ledger.new" "$ledger"
}

# TOPOLOGY
chunk() {
	from=$(next_seed "$1")
	n=${SOAK_CHUNK:-400}
	nice "$sim" --topology "$1" --seed "$from" --seeds "$n" --go-on \
		--jobs "${SOAK_JOBS:-1}" > "$out" 2>&1
	to=$((from + n - 1))
	bad=$(sed -n 's/^seed \([0-9]*\): .*/\1/p' "$out" | sort -nu |
		paste -sd, -)
	days=$(awk '$3 == "seeds," { print $4 }' "$out")
	if [ -z "$days" ]; then
		# It died: nobody knows what became of those behind it.
		grep -v '^ ' "$out" | tail -n 5
		to=$(echo "$bad" | tr , '\n' | tail -n 1)
		if [ -z "$to" ]; then
			echo "$0: $sim did not run" >&2
			exit 2
		fi
	fi
	[ -z "$bad" ] || status=1
	note $version "$1" "$from" "$to" "${days:-0}" "${bad:--}"
	echo "$(date -u +%T) $1 $from-$to: ${days:-?} simulated days," \
		"bad: ${bad:-none}"
}

version=$(version)
status=0
stop=$(($(date +%s) + ${SOAK_SECONDS:-315360000}))
[ -f "$ledger" ] || : > "$ledger"
while :; do
	for t in ${SOAK_TOPOLOGIES:-standalone embedded sentinel replicated quorum cluster}
	do
		chunk "$t"
		[ "$(date +%s)" -lt "$stop" ] || exit "$status"
	done
done
