/*
 * Session leases: two brokers that want one name, and one server (README.md).
 * Each -DNO_... takes a rule out of the proof.
 */
#define LEASE 2
#define END 4 /* of the world */
#define PER_TICK 2 /* what the clock adds to a fence in a tick */

#ifdef NO_PAD
#define PAD 0
#else
#define PAD 1
#endif
#ifdef NO_GRACE
#define GRACE 0
#else
#define GRACE (LEASE + PAD)
#endif
#define UNKNOWN 99

byte now, step;	/* of all; what the server's clock has gained */
byte op[2], sent[2];	/* 0: none; 1: on its way; 2: answered yes, 3: no */
byte until[2];		/* the broker vouches until then */
byte fence[2], drawn[2], seen[2];
byte pended[2];		/* when the pend value arrived; UNKNOWN: not yet */
bool blessed = true;
byte key, key_fence, key_end; /* 0: free; the broker + 1; by its clock */
byte top, highest;	/* highest: of all told */
byte saved_key, saved_fence, saved_end, saved_top;
bool saved;
byte losses, steps;

#define VOUCHED(b) (until[b] > now)
#define MINE(b) (VOUCHED(b) && until[b] != 0)

inline raise(to, n) {
	if
	:: n > to -> to = n
	:: else
	fi
}

/* The server runs the call of b: it renews, writes again, or acquires. */
inline serve(b) {
	if
	:: key != 0 && key_end <= now + step -> key = 0; key_fence = 0
	:: else
	fi;
	if
	/* A token is used once: what an older lease left is not ours. */
	:: key == b + 1 && (MINE(b) && key_fence == fence[b] ||
	    !MINE(b) && blessed && key_fence > fence[b]) ->
		drawn[b] = key_fence; op[b] = 2
	:: !blessed && MINE(b) &&
	    (key == 0 || key_fence < fence[b]) ->
		key = b + 1; key_fence = fence[b]; drawn[b] = fence[b];
		raise(top, key_fence);
		op[b] = 2
	:: key == 0 && blessed && !MINE(b) &&
	    top < PER_TICK * (now + step + 1) -> /* slower than the clock */
#ifndef NO_FENCE_RECOVERY
		raise(top, PER_TICK * (now + step));
		raise(top, seen[b]);
#endif
		top++;
		key = b + 1; key_fence = top; drawn[b] = top; op[b] = 2
	:: else -> op[b] = 3
	fi;
	if
	:: op[b] == 2 -> key_end = now + step + LEASE + PAD
	:: else
	fi;
	if
	:: !blessed && pended[b] == UNKNOWN -> pended[b] = now
	:: else
	fi
}

inline answer(b) {
	if
#ifdef NO_LATE_CHECK
	:: op[b] == 2 ->
		until[b] = now + LEASE;
#else
	:: op[b] == 2 && sent[b] + LEASE > now ->
		until[b] = sent[b] + LEASE;
#endif
		if
		:: drawn[b] != fence[b] ->
			assert(drawn[b] > highest); /* P2 */
			highest = drawn[b]
		:: else
		fi;
		fence[b] = drawn[b];
		raise(seen[b], drawn[b]);
		assert(!(MINE(0) && MINE(1))) /* P1 */
	:: else
	fi;
	op[b] = 0; sent[b] = 0; drawn[b] = 0
}

inline forget() {
	losses++; blessed = false;
	pended[0] = UNKNOWN; pended[1] = UNKNOWN
}

init {
	pended[0] = UNKNOWN; pended[1] = UNKNOWN;
	do
	:: atomic {
	if
	:: op[0] == 0 -> op[0] = 1; sent[0] = now
	:: op[0] == 1 -> serve(0)
	:: op[0] == 1 -> op[0] = 0; sent[0] = 0 /* nothing arrives */
	:: op[0] >= 2 -> answer(0)
	:: op[0] == 0 && MINE(0) && key == 0 + 1 ->
		until[0] = 0; key = 0; key_fence = 0 /* UNLOCK */
	:: !blessed && pended[0] != UNKNOWN && pended[0] + GRACE <= now ->
		blessed = true;
		raise(top, seen[0])
	:: op[1] == 0 -> op[1] = 1; sent[1] = now
	:: op[1] == 1 -> serve(1)
	:: op[1] == 1 -> op[1] = 0; sent[1] = 0 /* nothing arrives */
	:: op[1] >= 2 -> answer(1)
	:: op[1] == 0 && MINE(1) && key == 1 + 1 ->
		until[1] = 0; key = 0; key_fence = 0 /* UNLOCK */
	:: !blessed && pended[1] != UNKNOWN && pended[1] + GRACE <= now ->
		blessed = true;
		raise(top, seen[1])
	:: now < END -> now++;
		if
		:: until[0] <= now -> until[0] = 0
		:: else
		fi;
		if
		:: until[1] <= now -> until[1] = 0
		:: else
		fi
	:: steps < 1 -> steps++; step++ /* the guard does not see it */
	:: losses < 1 && !saved ->
		saved = true; saved_key = key; saved_fence = key_fence;
		saved_end = key_end; saved_top = top
	:: losses < 1 -> forget(); key = 0; key_fence = 0; top = 0
	:: losses < 1 && saved -> forget(); key = saved_key;
		key_fence = saved_fence; key_end = saved_end; top = saved_top
	:: now >= END -> break
	fi;
	/* What nobody will look at is 0: fewer states. */
	if
	:: key == 0 || key_end <= now + step ->
		key = 0; key_fence = 0; key_end = 0
	:: else
	fi;
	if
	:: blessed -> pended[0] = UNKNOWN; pended[1] = UNKNOWN
	:: else
	fi;
	if
	:: losses > 0 || (saved && saved_key != 0 && saved_end <= now + step) ->
		saved_key = 0; saved_fence = 0; saved_end = 0
	:: else
	fi;
	if
	:: losses > 0 -> saved = false; saved_top = 0
	:: else
	fi
	}
	od
}
