/*
 * Who votes in a quorum: how servers pass from one set of voters to the next,
 * and two brokers that want one name meanwhile (README.md).
 *
 * The servers a, b and c have the set S. A broker that wants d instead of c has
 * drawn A, and one with another list has drawn B of the same version, with e
 * instead of a. C is of the next version, drawn from A, with e instead of b.
 *
 * A call runs at any time after what its broker saw, or never. So the model has
 * no calls and no lists of brokers: a server does what it is asked if there was
 * ever a reason to ask, and if what the script compares still holds. Who asks
 * for which set is policy, and left out; so is the order of texts.
 */
#define S 0
#define A 1
#define B 2
#define C 3
#define NONE 4 /* an empty server's */

#define OF_S 7 /* a, b, c: a bit for each */
#ifdef FOUNDING
#define OF_A 7	/* the first sets: a, b, c */
#define OF_B 11 /* and a, b, d */
#define OF_C 0
#else
#define OF_A 11 /* a, b, d */
#ifdef FEW_STAY
#define OF_B 26 /* b, d, e */
#else
#define OF_B 22 /* b, c, e */
#endif
#ifdef LAGGARD
#define OF_C 13 /* a, c, d */
#else
#define OF_C 25 /* a, d, e */
#endif
#endif
#define OF(t) (t == S -> OF_S : (t == A -> OF_A : (t == B -> OF_B : OF_C)))
#define VERSION(t) (t == NONE -> 0 : (t == S -> 1 : (t == C -> 3 : 2)))

#define HAS(m, i) (((m) >> (i)) & 1)
#define COUNT(m) (HAS(m, 0) + HAS(m, 1) + HAS(m, 2) + HAS(m, 3) + HAS(m, 4))
#define MAJORITY(m) (COUNT(m) >= 2) /* of any set: all have three servers */

/* The field `open` of a guard. */
#define SETTLED 0
#define NEW 1
#define KEPT 2
#define PLEDGED 3

byte at[5], open[5];	/* the set of each server, and how it is there */
byte vote[5];		/* 0: none; the broker + 1 */
bool waits[5];		/* the grace period of a newcomer goes on */
byte came[4], pledged[4]; /* of each set: newcomers that ever came, pledges */
bool settled[4];	/* some server of it ever was */

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
#define MAY_SWITCH (t > at[i]) /* to the higher text */
#define MAY_SETTLE (settled[t] || MAJORITY(came[t]))
#else
#define MAY_SWITCH (settled[t] || IS_FREE)
/* Or all are there, and nobody is left to pledge. */
#define MAY_SETTLE (settled[t] || MAJORITY(pledged[t]) || \
	(came[t] | pledged[t]) == OF(t))
#endif
#ifdef MEND_OPEN
#define IS_DRAWN true
#else
#define IS_DRAWN (t != C || settled[A])
#endif
#define MAY_MOVE (t != at[i] && HAS(OF(t), i) && IS_DRAWN && \
	(VERSION(t) > VERSION(at[i]) || \
	 VERSION(t) == VERSION(at[i]) && MAY_SWITCH))

#ifdef NEW_SAYS
#define HAS_SAY true
#else
#ifdef GRACE_RENEWS
#define HAS_SAY (open[i] != NEW && (!waits[i] || held[h] != 0))
#else
#define HAS_SAY (open[i] != NEW && !waits[i])
#endif
#endif

inline move() {
	printf("%c moves to %d\n", 'a' + i, t);
	at[i] = t;
	open[i] = (open[i] == NEW -> NEW : KEPT);
	if
#ifdef NO_PLEDGE
	:: !settled[t] && HAS(OF_S, i) -> came[t] = came[t] | 1 << i
#else
	:: !settled[t] && open[i] == NEW -> came[t] = came[t] | 1 << i
#endif
	:: else
	fi
}

inline pledge() {
	printf("%c pledges to %d\n", 'a' + i, t);
	open[i] = PLEDGED;
	pledged[t] = (settled[t] -> 0 : pledged[t] | 1 << i)
}

inline settle() {
	printf("%c is settled in %d\n", 'a' + i, t);
	if
#ifndef NO_GRACE
	:: open[i] == NEW ->
		waits[i] = true;
		asked[0] = (yes[0] != 0 -> asked[0] | 1 << i : 0);
		asked[1] = (yes[1] != 0 -> asked[1] | 1 << i : 0);
		since[0] = (held[0] != 0 -> since[0] | 1 << i : 0);
		since[1] = (held[1] != 0 -> since[1] | 1 << i : 0)
#endif
	:: else
	fi;
	open[i] = SETTLED; settled[t] = true;
	came[t] = 0; pledged[t] = 0; /* these matter no more */
#ifdef P3
	assert(!(settled[A] && settled[B])) /* P3 */
#endif
}

/* Votes of h end but those that its lease rests on: others may last longer, but
 * that only keeps the name from somebody. */
inline stop_asking() {
	yes[h] = 0; by[h] = 0; asked[h] = 0;
	i = 0;
	do
	:: i < 5 ->
		if
		:: vote[i] == h + 1 && !HAS(held[h], i) -> vote[i] = 0
		:: else
		fi;
		i++
	:: else -> break
	od
}

inline say_yes() {
	printf("%c votes for %d in %d\n", 'a' + i, h, t);
	vote[i] = h + 1; yes[h] = yes[h] | 1 << i; by[h] = t;
	if
	:: MAJORITY(yes[h]) ->
		printf("%d has the name\n", h);
		held[h] = yes[h]; since[h] = asked[h];
		stop_asking();
		assert(held[0] == 0 || held[1] == 0) /* P1 */
	:: else
	fi
}

init {
	at[3] = NONE; at[4] = NONE; open[3] = NEW; open[4] = NEW;
#ifdef FOUNDING
	at[0] = NONE; at[1] = NONE; at[2] = NONE;
	open[0] = NEW; open[1] = NEW; open[2] = NEW;
#else
	settled[S] = true;
#ifdef LAGGARD
	open[2] = NEW; /* nobody has told c that S is settled */
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
	if
	:: h = 0
	:: h = 1
	fi;
	if
	:: t = S
	:: t = A
	:: t = B
	:: t = C
	fi;
	if
	:: h == 0 && MAY_MOVE -> move()
	:: h == 0 && at[i] == t && open[i] == KEPT -> pledge()
	:: h == 0 && at[i] == t && open[i] != SETTLED && MAY_SETTLE -> settle()
	/* All that was asked for before it began is over by now. */
	:: h == 0 && t == S && waits[i] &&
	    !HAS(asked[0] | asked[1] | since[0] | since[1], i) ->
		printf("%c has waited\n", 'a' + i);
		waits[i] = false
	/* A lease and its renewal are votes of one set. */
	:: at[i] == t && HAS_SAY && (vote[i] == 0 || vote[i] == h + 1) &&
	    (yes[h] == 0 || by[h] == t && !HAS(yes[h], i)) -> say_yes()
	:: i == 0 && t == S && yes[h] != 0 -> stop_asking()
	:: i == 0 && t == S && held[h] != 0 ->
		printf("%d has ended\n", h);
		held[h] = 0; since[h] = 0;
		stop_asking()
	:: else
	fi;
	i = 0; h = 0; t = 0 /* fewer states */
	}
	od
}
