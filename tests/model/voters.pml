/*
 * Who votes in a quorum: how servers pass from one set of voters to the next,
 * and two brokers that want one name meanwhile (README.md).
 *
 * The servers a, b and c have the set S. A broker that wants d instead of c has
 * drawn A, and one with another list has drawn B of the same version, with e
 * instead of a. C is of the next version, drawn from A, with e instead of b.
 * Other scenes begin otherwise, or have other sets: SCENE.
 *
 * A call runs at any time after what its broker saw, or never. So the model has
 * no calls and no lists of brokers: a server does what it is asked if there was
 * ever a reason to ask, and if what the script compares still holds. Who asks
 * for which set is policy, and left out; so is the order of texts, and when a
 * broker asks a newcomer to pledge: it may at any time.
 */
#define S 0
#define A 1
#define B 2
#define C 3
#define NONE 4 /* an empty server's */

/* Scenes. */
#define LAGGARD 1  /* nobody has told c that S is settled; C has it again */
#define FOUNDING 2 /* no server has a set; S, A and B are first ones */
#define NEXT 3	   /* B, too, is drawn from A, and of the version of C */
#define FOUR 4	   /* S has four servers */

#define OF_S 7	/* a, b, c: a bit for each */
#define OF_A 11 /* a, b, d */
#ifdef FEW_STAY
#define OF_B 26 /* b, d, e */
#else
#define OF_B 22 /* b, c, e */
#endif
#define OF_C 25 /* a, d, e */
#define NEXT_AFTER_A(t) (t == C)
#if SCENE == LAGGARD
#undef OF_B
#define OF_B 14 /* b, c, d */
#undef OF_C
#define OF_C 13 /* a, c, d */
#elif SCENE == FOUNDING
#undef OF_A
#define OF_A 7 /* a, b, c */
#undef OF_B
#define OF_B 11 /* a, b, d */
#undef OF_C
#define OF_C 0
#elif SCENE == NEXT
#undef OF_B
#define OF_B 14 /* b, c, d */
#undef OF_C
#define OF_C 13 /* a, c, d */
#undef NEXT_AFTER_A
#define NEXT_AFTER_A(t) (t == B || t == C)
#elif SCENE == FOUR
#undef OF_S
#define OF_S 15 /* a, b, c, d */
#undef OF_A
#undef OF_B
#ifdef HALF_STAY
#define OF_A 19 /* a, b, e */
#define OF_B 12 /* c, d */
#else
#define OF_A 23 /* a, b, c, e */
#define OF_B 14 /* b, c, d */
#endif
#undef OF_C
#define OF_C 0
#endif
#define OF(t) (t == S -> OF_S : (t == A -> OF_A : (t == B -> OF_B : OF_C)))
#define VERSION(t) (t == NONE -> 0 : (t == S -> 1 : (NEXT_AFTER_A(t) -> 3 : 2)))

#define HAS(m, i) (((m) >> (i)) & 1)
#define COUNT(m) (HAS(m, 0) + HAS(m, 1) + HAS(m, 2) + HAS(m, 3) + HAS(m, 4))
#define MAJORITY(m, t) (2 * COUNT(m) > COUNT(OF(t)))
/* Of the set before, or of the first one: as large as S, all of them. */
#define MAJORITY_BEFORE(m) MAJORITY(m, S)

/* The field `open` of a guard. */
#define SETTLED 0
#define NEW 1	  /* n */
#define KEPT 2	  /* k */
#define PLEDGED 3 /* p */
#define JOINED 4  /* o: a newcomer that has pledged */
#define IS_NEW (open[i] == NEW || open[i] == JOINED)

byte at[5], open[5];	/* the set of each server, and how it is there */
byte vote[5];		/* 0: none; the broker + 1 */
bool waits[5];		/* the grace period of a newcomer goes on */
/* Of each set: servers that ever pledged to it with a say, and without one. */
byte pledged[4], joined[4];
bool settled[4]; /* some server of it ever was */

/* Of each broker: the servers that have said yes to what it asks for now, as
 * bits, under which set, and those that its lease rests on (0: it has none). */
byte yes[2], by[2], held[2];
/* The newcomers whose grace period began after that was asked for. */
byte asked[2], since[2];

byte i, h, t; /* a server, a broker, and a set, for one step */

#ifdef MOVE_PLEDGED
#define IS_FREE (open[i] != SETTLED)
#else
#define IS_FREE (open[i] == KEPT || open[i] == NEW)
#endif
#ifdef NO_PLEDGE
#define MAY_SWITCH(t) ((t) > at[i]) /* to the higher text */
#else
#define MAY_SWITCH(t) (settled[t] || IS_FREE)
#endif
#define MAY_SETTLE (settled[t] || MAJORITY_BEFORE(pledged[t]) || \
	(pledged[t] | joined[t]) == OF(t))
#ifdef MEND_OPEN
#define IS_DRAWN(t) true
#else
#define IS_DRAWN(t) (!NEXT_AFTER_A(t) || settled[A])
#endif
#define MAY_MOVE(t) (t != at[i] && HAS(OF(t), i) && IS_DRAWN(t) && \
	(VERSION(t) > VERSION(at[i]) || \
	 VERSION(t) == VERSION(at[i]) && MAY_SWITCH(t)))

#ifdef NEW_SAYS
#define HAS_SAY(h) true
#else
/* What is renewed is written again in the grace period, and counts. */
#define HAS_SAY(h) (!IS_NEW && (!waits[i] || held[h] != 0))
#endif

/* Does it keep its say if it moves to t? */
#ifdef KEEPS_SAY
#define KEEPS (!IS_NEW)
#else
#define KEEPS (VERSION(t) == VERSION(at[i]) && \
	(open[i] == KEPT || open[i] == PLEDGED) || \
	VERSION(t) == VERSION(at[i]) + 1 && open[i] == SETTLED)
#endif

inline move() {
	printf("%c moves to %d\n", 'a' + i, t);
	open[i] = (KEEPS -> KEPT : NEW);
	at[i] = t;
#ifdef NO_PLEDGE
	if
	:: open[i] == KEPT -> pledged[t] = (settled[t] -> 0 : pledged[t] | 1 << i)
	:: else
	fi
#endif
#ifdef FOUNDERS_FREE
	if
	:: open[i] == NEW -> joined[t] = (settled[t] -> 0 : joined[t] | 1 << i)
	:: else
	fi
#endif
}

#ifdef FOUNDERS_FREE
#define MAY_PLEDGE (open[i] == KEPT)
#else
#define MAY_PLEDGE (open[i] == KEPT || open[i] == NEW)
#endif

inline pledge() {
	printf("%c pledges to %d\n", 'a' + i, t);
	if
	:: open[i] == KEPT ->
		open[i] = PLEDGED;
		pledged[t] = (settled[t] -> 0 : pledged[t] | 1 << i)
	:: else ->
		open[i] = JOINED;
		joined[t] = (settled[t] -> 0 : joined[t] | 1 << i)
	fi
}

inline settle() {
	printf("%c is settled in %d\n", 'a' + i, t);
	if
#ifndef NO_GRACE
	:: IS_NEW ->
		waits[i] = true;
		asked[0] = (yes[0] != 0 -> asked[0] | 1 << i : 0);
		asked[1] = (yes[1] != 0 -> asked[1] | 1 << i : 0);
		since[0] = (held[0] != 0 -> since[0] | 1 << i : 0);
		since[1] = (held[1] != 0 -> since[1] | 1 << i : 0)
#endif
	:: else
	fi;
	open[i] = SETTLED; settled[t] = true;
	pledged[t] = 0; joined[t] = 0; /* these matter no more */
#ifdef P3
	/* P3 */
	assert(!settled[B] || !(VERSION(B) == VERSION(A) -> settled[A] : settled[C]))
#endif
}

/* A lease and its renewal are votes of one set. */
#define MAY_VOTE(h) (t != NONE && HAS_SAY(h) && \
	(vote[i] == 0 || vote[i] == h + 1) && \
	(yes[h] == 0 || by[h] == t && !HAS(yes[h], i)))

/*
 * A vote for h that its lease does not rest on, or no more, runs out. Whoever
 * holds the name has renewed before that, so what the other broker asked for
 * before the renewal does not count here: the vote is left until that one stops
 * asking. That nobody asks is as if it had stopped.
 */
#ifdef LATE_VOTES
#define RUNS_OUT(h) true
#else
#define RUNS_OUT(h) (held[h] == 0 || yes[1 - h] == 0)
#endif

/* Votes of h end but those that its lease rests on: others may last longer, but
 * that only keeps the name from somebody. */
inline stop_asking() {
	yes[h] = 0; by[h] = 0; asked[h] = 0;
	i = 0;
	do
	:: i < 5 ->
		if
		:: vote[i] == h + 1 && !HAS(held[h], i) && RUNS_OUT(h) ->
			vote[i] = 0
		/* What was left because h asked. */
		:: vote[i] == 2 - h && !HAS(held[1 - h] | yes[1 - h], i) ->
			vote[i] = 0
		:: else
		fi;
		i++
	:: else -> break
	od;
	skip /* for d_step */
}

inline say_yes() {
	printf("%c votes for %d in %d\n", 'a' + i, h, t);
	vote[i] = h + 1; yes[h] = yes[h] | 1 << i; by[h] = t;
	if
	:: MAJORITY(yes[h], by[h]) ->
		printf("%d has the name\n", h);
		held[h] = yes[h]; since[h] = asked[h];
		stop_asking();
		assert(held[0] == 0 || held[1] == 0) /* P1 */
	:: else
	fi
}

init {
	at[4] = NONE; open[4] = NEW;
#if SCENE != FOUR
	at[3] = NONE; open[3] = NEW;
#endif
#if SCENE == FOUNDING
	at[0] = NONE; at[1] = NONE; at[2] = NONE;
	open[0] = NEW; open[1] = NEW; open[2] = NEW;
#else
	settled[S] = true;
#if SCENE == LAGGARD
	open[2] = NEW;
#endif
#endif
	do
	:: atomic {
		if
		:: i = 0
		:: i = 1
		:: i = 2
		:: i = 3
		:: i = 4
		fi;
		t = at[i];
		if
		:: MAY_MOVE(S) -> d_step { t = S; move() }
		:: MAY_MOVE(A) -> d_step { t = A; move() }
		:: MAY_MOVE(B) -> d_step { t = B; move() }
		:: MAY_MOVE(C) -> d_step { t = C; move() }
		:: t != NONE && MAY_PLEDGE -> d_step { pledge() }
		:: t != NONE && open[i] != SETTLED && MAY_SETTLE ->
			d_step { settle() }
		/* All that was asked for before it began is over by now. */
		:: waits[i] &&
		    !HAS(asked[0] | asked[1] | since[0] | since[1], i) ->
			d_step { printf("%c has waited\n", 'a' + i); waits[i] = false }
		:: MAY_VOTE(0) -> d_step { h = 0; say_yes() }
		:: MAY_VOTE(1) -> d_step { h = 1; say_yes() }
		:: else
		fi;
		i = 0; h = 0; t = 0 /* fewer states */
	}
	:: atomic {
		if
		:: h = 0
		:: h = 1
		fi;
		if
		:: yes[h] != 0 -> d_step { stop_asking() }
		:: held[h] != 0 ->
			d_step {
				printf("%d has ended\n", h);
				held[h] = 0; since[h] = 0;
				stop_asking()
			}
		:: else
		fi;
		i = 0; h = 0
	}
	od
}
