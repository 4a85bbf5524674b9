/*
 * The checker: watches everything that brokers tell clients, and clients ask
 * of brokers, and holds it against the promises (README).
 */
#ifndef LOCKBROKER_SIM_CHECKER_H
#define LOCKBROKER_SIM_CHECKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/core.h"

#define CHECKER_BROKERS_MAX 24
#define CHECKER_NAMES_MAX 4
#define CHECKER_SERVERS_MAX 9
#define CHECKER_HOLDS_MAX 64
#define CHECKER_LATCHES_MAX 2
#define CHECKER_BARRIERS_MAX 2
#define CHECKER_PARTIES_MAX 8
#define CHECKER_SEMAPHORES_MAX 3
#define CHECKER_QUIETS_MAX 64

struct input;
struct answer;
struct broker;
struct client;
struct flight;
struct server;
struct world;

/* ASK(identifier, "verb", the forms that its answer may take; see below) */
/* clang-format off */
#define ASKS(ASK) \
	ASK(LOCK, "LOCK", ASK_WAITS) \
	ASK(UNLOCK, "UNLOCK", ASK_TWICE) \
	ASK(EXTEND, "EXTEND", ASK_TWICE) \
	ASK(STATUS, "STATUS", 0) \
	ASK(PING, "PING", ASK_AT_ONCE) \
	ASK(CANCEL, "CANCEL", ASK_AT_ONCE) \
	ASK(ACQUIRE, "ACQUIRE", ASK_WAITS) \
	ASK(RELEASE, "RELEASE", ASK_TWICE) \
	ASK(LATCH, "LATCH", ASK_TWICE) \
	ASK(COUNTDOWN, "COUNTDOWN", ASK_TWICE) \
	ASK(AWAIT, "AWAIT", ASK_WAITS) \
	ASK(BARRIER, "BARRIER", ASK_WAITS | ASK_TWICE) \
	ASK(SESSION, "SESSION", ASK_AT_ONCE) \
	ASK(RESUME, "RESUME", ASK_AT_ONCE) \
	ASK(WATCH, "WATCH", ASK_TWICE) \
	ASK(UNWATCH, "UNWATCH", 0) \
	ASK(FORCE, "UNLOCK-FORCE", 0) \
	ASK(DRILL, "DRILL", 0)
/* clang-format on */

enum ask_kind {
#define ASK(id, word, form) ASK_##id,
	ASKS(ASK)
#undef ASK
	    ASK_KINDS
};

/* When it is answered; 0: when Redis has answered, once. */
enum ask_form {
	ASK_AT_ONCE = 1 << 0,
	ASK_WAITS = 1 << 1, /* as long as its wait= says */
	/* Then Redis is waited for once more.  What gives back or extends may
	 * have to wait first for a renewal that is under way. */
	ASK_TWICE = 1 << 2
};

/* One request, from when it was sent; kept until the world ends. */
struct ask {
	uint64_t ref;
	enum ask_kind kind;
	uint64_t session;
	uint64_t sitting; /* the connection it came over */
	int broker;
	int name; /* the first; -1: none */
	unsigned nnames;
	int names[CHECKER_NAMES_MAX]; /* as asked */
	bool shared;
	uint64_t number; /* of permits; a count; by how much */
	uint64_t limit;	 /* of permits; parties */
	bool slot;	 /* slot=yes */
	int object;	 /* of semaphores, of latches, of barriers */
	int64_t ttl_ms;	 /* of a latch */
	int64_t max_ms;	 /* of a drill, to its answer */
	bool received, answered, cancelled, gone;
	bool has_hold;
	bool untagged;
	bool privileged; /* it may pass those who came before ... */
	unsigned ahead;	 /* ... for these names, as bits */
	/* UNLOCK: names that its session was granted again since, as bits. */
	unsigned again;
	int64_t sent_us, received_us;
	int64_t awake_us; /* RESUME: who had it before ran since then */
	int64_t wait_ms, hold_ms, keep_ms, delay_ms;
	uint64_t order;	  /* of arrival, over all brokers */
	int64_t idle_us;  /* its broker has nothing of the name since then */
	int64_t ended_us; /* answered or gone */
	/* Of a latch or barrier, what was known when it was received. */
	uint64_t life, seen;
	bool safe, open;
	bool counted;	  /* it is taken for a party of a generation */
	uint64_t resumes; /* RESUME: this session */
	unsigned passed; /* others were granted a name of it since it is firm */
	bool departed;	 /* it has ended otherwise than with its generation */
};

/* What a session was told of a name that it watches. */
struct watching {
	bool on;
	bool known, held;   /* told; HELD */
	bool welcome;	    /* its OK was told, and what is comes next */
	bool unsure;	    /* told since the last request */
	unsigned unwritten; /* so many were decided before that, and are told
			     * later */
	uint64_t fence;
	int by_broker;
	int64_t since_us; /* of the OK, or of the RESUME */
};

/* One connection, from its start, and the session that began with it. */
struct sitting {
	int client;
	int broker;
	bool draining, gone;
	bool resumed;	  /* another connection has its session since */
	bool proxied;	  /* a close may be a proxy's */
	int outstanding;  /* requests received and not answered */
	uint64_t session; /* that the connection has; 0: none any more */
	/* Of the session. */
	uint64_t sitting; /* the connection that has it; 0: nobody is there */
	bool ended;
	unsigned kept; /* names it ever had with a keep= or delay=, as bits */
	int64_t valid_us; /* until when its client counts on what it was told */
	bool waived;  /* it does no longer: it is away, and closed in order */
	bool leaving; /* its broker stops; it may still give back */
	int64_t grace_ms;
	int64_t until_ms, until_us; /* it lives so long, if nobody comes back */
	int64_t valid_ms;  /* a valid= lasts until then by its broker's clock */
	int64_t kept_ms;   /* ... and its broker keeps it until then at most */
	bool by_quit_only; /* any other end may be that of a killed client */
	int64_t heartbeat_ms; /* its client owes a line so often; 0: never */
	int64_t heard_us;     /* a line came over the connection ... */
	uint64_t waits;	      /* ... and this request waits, untagged */
	/* How often the loss of a name, or of permits, was told since the last
	 * request, and is to be told again now, for nobody knows whether it
	 * arrived; what was told to nobody, and must be told, as bits. */
	unsigned lately[CHECKER_NAMES_MAX + CHECKER_SEMAPHORES_MAX];
	unsigned echoes[CHECKER_NAMES_MAX + CHECKER_SEMAPHORES_MAX];
	int64_t echo_us;
	unsigned missed, owed;
	struct watching watches[CHECKER_NAMES_MAX];
};

/* One grant, for as long as a broker vouches for it. */
struct grant {
	int name, broker;
	bool shared;
	uint64_t session;
	uint64_t fence;
	int64_t depth;
	int parting;	  /* UNLOCKs received, not answered */
	bool doubted;	  /* excused: its broker could not say that it ended */
	bool deluded;	  /* granted by a lease that was over, of which its
			     broker could not know */
	bool detached;	  /* its client is gone, but was told a valid= */
	bool away;	  /* its client is gone, and may come back */
	bool either;	  /* shared, or alone for a keep= that goes on */
	bool forced;	  /* UNLOCK-FORCE was asked for while it was there */
	bool reentered;	  /* at some time its depth was more than 1 */
	int64_t since_us; /* when it was told ... */
	int64_t had_us;	  /* ... and before any upgrade */
	bool orphaned;	  /* its broker is gone, but its client counts on it */
	int64_t valid_us; /* its client counts on it until then, by a PING */
	int64_t bound_us; /* hold=; INT64_MAX: none */
	int64_t slack_us; /* by which clocks may differ at the bound */
	int64_t keep_us;  /* keep=: nobody else until then */
	int64_t delay_ms;
	int64_t until_us; /* detached, orphaned, away: the end of it */
	/* In checker.drills, counted from 1: its session was told that it has
	 * lost it; 0: it was not. */
	size_t drill;
};

/* A session was told that it has lost a name (checker_drill.c). */
struct drill {
	int name;
	uint64_t session;
	int64_t told_us;
	int64_t over_us; /* the session has let go, perhaps; -1: it has not */
	bool unlocked;	 /* ... for sure, by UNLOCK */
	bool lost;	 /* in earnest */
};

/* Permits of one session, for as long as a broker vouches for them. */
struct stake {
	uint64_t session;
	int broker, semaphore;
	uint64_t limit;	     /* that it was asked for with */
	uint64_t n, parting; /* of them; RELEASEs received, not answered */
	int64_t slot;	     /* of one of them; -1: none */
	bool alone;	     /* its client counts on it, and nobody is there */
	bool away;	     /* its client may come back */
	int64_t valid_us;    /* as of a grant */
	int64_t bound_us;    /* hold=; INT64_MAX: none */
	int64_t until_us;    /* alone, away: the end of it */
};

/* Quorum: how long each server has confirmed a lease for, under one token. */
struct votes {
	uint64_t seq;
	int64_t until_us[CHECKER_SERVERS_MAX];
};

/* What is known of one semaphore (checker_permits.c). */
struct semaphore_facts {
	int64_t lease_us[CHECKER_BROKERS_MAX]; /* vouched for until then */
	/* Since when each broker has its place in the queue; when it took
	 * permits last, and since when it had waited for those. */
	int64_t place_us[CHECKER_BROKERS_MAX];
	int64_t took_us[CHECKER_BROKERS_MAX];
	int64_t took_place_us[CHECKER_BROKERS_MAX];
	bool too_many;	   /* permits are out, of two masters */
	bool doubled;	   /* a slot is, likewise */
	bool mixed;	   /* permits of several limits are, likewise */
	int64_t hungry_us; /* since when enough are free for all who wait */
};

/* What is known of one latch (checker_latch.c). */
struct latch_facts {
	bool known;	  /* Redis has it as it is written here */
	bool obscure;	  /* a LATCH without an answer may have made another */
	uint64_t life;	  /* counts what makes and unmakes it */
	uint64_t makers;  /* that may have made one, ever */
	uint64_t first;	  /* the count that it was made with */
	uint64_t sure;	  /* counted down, as was told */
	uint64_t perhaps; /* by requests that were not answered */
	uint64_t stray;	  /* the same, that may count for a later one ... */
	int64_t stray_us; /* ... until then */
	int64_t open_us;  /* since when the count is 0 for sure; -1: it isn't */
	int64_t alive_us; /* for sure until then */
	int64_t ttl_us;
	int64_t forgot_us; /* when Redis lost data last */
};

/* What is known of one barrier (checker_barrier.c). */
struct barrier_facts {
	uint64_t latest;   /* generation that was told */
	int64_t forgot_us; /* when Redis lost data last */
	int64_t left_us;   /* when a party left last */
	int64_t died_us;   /* the same, one that had waited for a while */
	int64_t full_us;   /* since when enough wait */
	bool mixed;	   /* somebody came with another parties= */
};

/* One generation of a barrier that somebody was told of. */
struct generation {
	int barrier;
	uint64_t number, parties, told;
	uint64_t places;  /* that were told, as bits */
	int64_t first_us; /* when the first was told */
	bool dim;	  /* Redis may have forgotten some of it */
	uint64_t refs[CHECKER_PARTIES_MAX]; /* of the requests, by index */
};

/* keep= and delay= of a hold that has ended (checker_quiet.c). */
struct quiet {
	uint64_t session; /* nobody but this one ... */
	int64_t until_us; /* ... until then */
	int64_t back_us;  /* before then it may give the name back ... */
	int64_t keep_us;  /* ... which leaves this keep= */
	bool shared;	  /* unless it shares, as this one did */
};

/* What is known of one name. */
struct ground {
	uint64_t fence;			       /* the highest told ... */
	bool shared;			       /* ... how ... */
	int64_t phase_us;		       /* ... and first when */
	int64_t lease_us[CHECKER_BROKERS_MAX]; /* vouched for until then */
	/* When Redis last gave it to the broker, and the end of its lease
	 * before that. */
	int64_t given_us[CHECKER_BROKERS_MAX];
	int64_t former_us[CHECKER_BROKERS_MAX];
	struct votes votes[CHECKER_BROKERS_MAX];
	struct quiet quiets[CHECKER_QUIETS_MAX];
	/* When somebody there had it last, or nobody there wanted it; and when
	 * Redis last gave it to the broker, or renewed that. */
	int64_t placeless_us[CHECKER_BROKERS_MAX];
	int64_t had_us[CHECKER_BROKERS_MAX];
	/* When the broker was told that it is let in to share it; and when its
	 * present turn began, which it did not just take. */
	int64_t let_in_us[CHECKER_BROKERS_MAX];
	int64_t began_us[CHECKER_BROKERS_MAX];
	int64_t hungry_us;  /* since when it is free and wanted; -1: not */
	int64_t plain_us;   /* a plain client has it until then */
	int64_t hush_us;    /* either, till it was forced */
	int64_t force_us;   /* when it was last forced; 0: never ... */
	int64_t meant_us;   /* ... who had it by then is meant by that */
	int64_t done_us;    /* when that was answered last */
	int64_t jumped_us;  /* how far the clock of the server was off then */
	int64_t changed_us; /* when somebody got it or let it go */
	uint64_t grants;
};

/* Owned by the world. */
struct checker {
	struct ask *asks; /* owned; ref - 1 is the index */
	size_t nasks, asks_size;
	uint64_t *open; /* owned: refs received and not answered */
	size_t nopen, open_size;
	struct sitting *sittings; /* owned; session - 1 is the index */
	size_t nsittings, sittings_size;
	struct grant grants[CHECKER_HOLDS_MAX];
	int ngrants;
	struct ground grounds[CHECKER_NAMES_MAX];
	struct stake stakes[CHECKER_HOLDS_MAX];
	int nstakes;
	struct semaphore_facts semaphores[CHECKER_SEMAPHORES_MAX];
	struct latch_facts latches[CHECKER_LATCHES_MAX];
	struct barrier_facts barriers[CHECKER_BARRIERS_MAX];
	struct generation *generations; /* owned */
	size_t ngenerations, generations_size;
	struct drill *drills; /* owned; in the order of told_us */
	size_t ndrills, drills_size;
	int64_t forgot_us[2]; /* when Redis lost data: last, and before that */
	bool by_clocks; /* a broker has said that fences rest on clocks now */
	uint64_t next_order;
	unsigned ops;	/* sent by brokers, while nothing else happened, ... */
	int64_t ops_us; /* ... since then */
	int64_t circle_us; /* since when sessions wait in one; -1: not */
	uint64_t told, lost, timeouts, unavailable; /* counters for reports */
	uint64_t excused;	/* broken, where only best effort is promised */
	uint64_t warm, recalls; /* grants without a trip; given back then */
	uint64_t attempts, calls; /* acquires asked for; operations on names */
	int64_t free_us; /* names were free and wanted so long, after a grant */
};

void checker_init(struct world *w);
void checker_fini(struct world *w);

/* Clients: a connection, a request, its particulars, what was heard. */
void checker_opened(struct world *w, const struct client *c);
uint64_t checker_asked(struct world *w, const struct client *c,
    enum ask_kind kind, unsigned nnames, const int *names);
void checker_wants(
    struct world *w, uint64_t ref, const struct core_request *rq);
void checker_cancels(struct world *w, uint64_t ref);
void checker_heard(struct world *w, const struct client *c,
    const struct answer *a, const struct ask *ask);
const struct ask *checker_ask(const struct world *w, uint64_t ref);

/* The client whose connection it is, or was. */
struct client *checker_client(struct world *w, uint64_t sitting);

/* Brokers: what they read, what they write, how they end. */
bool checker_sitting_gone(const struct world *w, uint64_t sitting);
bool checker_sitting_resumed(const struct world *w, uint64_t sitting);
void checker_received(struct world *w, const struct broker *b, uint64_t ref);
void checker_line(
    struct world *w, const struct broker *b, const struct answer *a);
void checker_gone(struct world *w, const struct broker *b, uint64_t sitting,
    bool orderly, bool quit);
void checker_crashed(struct world *w, const struct broker *b);

/* Sessions (checker_session.c): which one a connection has, and how it goes
 * from one to another. */
uint64_t checker_session(const struct world *w, uint64_t sitting);
bool checker_is_away(const struct world *w, uint64_t session);
void checker_tenure(struct world *w, uint64_t session, const struct input *in);

/* A PING is answered that so much is left; -1: the session holds nothing. */
void checker_pinged(
    struct world *w, const struct broker *b, uint64_t session, int64_t left_ms);
bool checker_survives(
    const struct world *w, const struct broker *b, uint64_t sitting, bool quit);
void checker_attached(struct world *w, uint64_t sitting, uint64_t session);
void checker_taken_over(
    struct world *w, const struct broker *b, uint64_t sitting);
void checker_resuming(
    struct world *w, const struct broker *b, uint64_t ref, uint64_t session);
void checker_resumed(struct world *w, struct broker *b, uint64_t sitting);

/* What a client can find out by LIST. */
const struct grant *checker_grant_of(
    struct world *w, uint64_t session, int name);
uint64_t checker_permits_of(struct world *w, uint64_t session, int semaphore);
int checker_broker(const struct world *w, uint64_t sitting);

/* Another process has a connection now, with the RESUME that came over it. */
void checker_handed(
    struct world *w, uint64_t sitting, uint64_t ref, int broker);
bool checker_is_proxied(const struct world *w, uint64_t sitting);
bool checker_is_by_quit_only(const struct world *w, uint64_t sitting);

/* A connection that sends no more; true: nothing is under way for it. */
/* The clock of a broker stood still for so long, and all its times with it. */
void checker_stood_still(struct world *w, const struct broker *b, int64_t us);

void checker_draining(struct world *w, uint64_t sitting);
bool checker_drained(const struct world *w, uint64_t sitting);

/*
 * Redis: a lease was confirmed, or handed over by a message that is good for
 * one pad; an operation was refused; data was lost.
 */
void checker_op(
    struct world *w, const struct broker *b, const struct flight *op);
void checker_lease(struct world *w, const struct broker *b,
    const struct flight *op, int64_t sent_ms);
void checker_given(struct world *w, const struct server *s,
    const struct broker *b, const char *name);
void checker_let_in(struct world *w, const struct broker *b, const char *name);
void checker_refused(
    struct world *w, const char *name, const char *text, size_t len);
void checker_amnesia(struct world *w);

/* The log of a broker says that a session has lost a name, not by a drill; and
 * one is told so in a drill whose connection is gone. */
void checker_drill_lost(struct world *w, const struct broker *b,
    uint64_t session, int name, bool forced);
void checker_drill_told(
    struct world *w, const struct broker *b, const struct answer *a);

/* A broker is asked to let go of a name that is forced. */
void checker_forces(struct world *w, const char *name);

/* A plain client, or a token, has taken the name, or let it go. */
void checker_plain(struct world *w, int name, int64_t until_us);

/* P1: when it takes the name, no broker vouches for a session.  A token has
 * asked for it at that time. */
void checker_plain_alone(struct world *w, int name);
void checker_token_alone(struct world *w, int name, int64_t asked_us);

/* Permits were confirmed (checker_permits.c). */
void checker_permits(
    struct world *w, const struct broker *b, int semaphore, int64_t sent_ms);

void checker_permits_taken(
    struct world *w, const struct broker *b, int semaphore);

/* What must be so at any time, and at the end. */
void checker_look(struct world *w);

/* Has everybody gone, and is nothing left to wait for? */
bool checker_at_rest(struct world *w);

void checker_end(struct world *w);

/*
 * The place of a request among those that wait.  It re-enters what an earlier
 * request of its session for several names has been granted, also if the broker
 * froze before it could tell that one, and then took it back.
 */
uint64_t checker_place(const struct checker *k, const struct ask *ask);

#endif
