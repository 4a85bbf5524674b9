/*
 * A token hold and its adoption: client 0 has it until PX after it asked, by
 * its own clock; client 1 wants the name (README.md).
 */
#define PX 5
#define END 12
#define LEASE 1

#ifdef NO_PAD
#define PAD 0
#else
#define PAD 1
#endif
#define GRACE (LEASE + PAD)
#ifdef LATE_IS_PX
#define LATE PX
#else
#define LATE GRACE /* no answer is believed that took as long */
#endif
#ifdef NO_ADOPTION
#define ADOPTED true /* the data may go though nobody looks after it */
#else
#define ADOPTED (ward != 0)
#endif

byte now, step;
byte op, sent, until;	/* client 0: 1: on its way; 2: answered yes */
byte second;		/* client 1 counts on the name until then */
byte key, key_end;	/* 1: client 0's; 2: client 1's */
byte ward, ward_until;	/* 1: its broker's; 2: of one that adopted it */
byte asked, asking, left; /* the adopter: 1: on its way; 2: answered */
bool blessed = true;
byte pended, losses, steps;

inline expire() {
	if
	:: key != 0 && key_end <= now + step -> key = 0
	:: else
	fi
}

init {
	do
	:: atomic {
	expire();
	if
	:: op == 0 && sent == 0 && now < 2 -> op = 1; sent = now + 1
	:: op == 1 && key == 0 && blessed ->
		key = 1; key_end = now + step + PX + PAD; op = 2
	:: op == 2 ->
#ifndef NO_LATE_CHECK
		if
		:: sent - 1 + LATE <= now -> op = 3
		:: else ->
#endif
			until = sent - 1 + PX; op = 3;
			ward = 1; ward_until = until;
			assert(second <= now || until <= now) /* P1 */
#ifndef NO_LATE_CHECK
		fi
#endif
	/* The ward ends it at its bound, and writes it again. */
	:: ward != 0 && ward_until <= now ->
		ward = 0;
		if
		:: key == 1 -> key = 0
		:: else
		fi
	:: ward != 0 && ward_until > now && key == 0 && !blessed ->
		key = 1; key_end = ward_until + step + PAD
	/* Its broker is gone; another one asks, and learns the bound. */
	:: ward == 1 && blessed -> ward = 0
	:: ward == 0 && op == 3 && until > 0 && asking == 0 && key == 1 ->
		asking = 1; asked = now
	:: asking == 1 -> 
		if
		:: key == 1 -> left = key_end - now - step; asking = 2
		:: else -> asking = 3
		fi
	:: asking == 2 -> asking = 3;
		ward = 2;
#ifdef FROM_SENDING
		ward_until = asked + left - PAD
#else
#ifdef LESS_PAD
		ward_until = now + left - PAD
#else
		ward_until = now + left
#endif
#endif
	/* Client 1 is granted the name, and is told at once. */
	:: key == 0 && blessed && second == 0 && now > 0 ->
		key = 2; key_end = END + END; second = END + END;
		assert(until <= now) /* P1 */
	/* The world. */
	:: now < END -> now++
#ifndef NO_STEP
	:: steps < 1 -> steps++; step++
#endif
	:: losses < 1 && (op != 3 || until <= now || ADOPTED) ->
		losses++; key = 0; blessed = false; pended = now
	:: !blessed && pended + GRACE <= now && (ward == 0 || key == 1) ->
		blessed = true
	:: now >= END -> break
	fi
	}
	od
}
