/*
 * Synchronizers other than locks: semaphores, latches and barriers.
 *
 *	session --permits--> permits <--holders-- semaphore
 *	   |                                          |
 *	   +--claims--> claim <--queue-- sync --------+
 *
 * A sync is what this broker knows of one object; each kind has names of its
 * own.  A claim is a request that has not been answered.  sync.c owns both and
 * knows nothing of what a kind means; that is in the file of the kind, behind
 * its struct sync_class.
 *
 * A change calls sync_touch().  Before the step ends the kind's next() looks
 * at each object that was touched, and does the one thing that comes next.  At
 * most one operation is in flight for an object, and what its outcome leaves
 * unknown changes nothing: the operation is sent again.
 */
#ifndef LOCKBROKER_CORE_SYNC_SYNC_H
#define LOCKBROKER_CORE_SYNC_SYNC_H

#include "core/guard/guard.h"
#include "core/session/request.h"
#include "core/turn/slot.h"

/* Each kind has names of its own. */
enum sync_kind { SYNC_SEMAPHORE, SYNC_LATCH, SYNC_BARRIER, SYNC_MAX };

struct sync_class;
TAILQ_HEAD(sync_list, sync);

/* Claims of one object in the order of arrival, and how they stand: line.h. */
struct claim_line {
	struct claim_list list;
	struct claim *asked;	  /* the first that is not parked */
	struct claim *fresh;	  /* the first that is new */
	unsigned n;		  /* in all */
	unsigned nparked, nasked; /* of them */
};

/* One object of one name.  Owned by the core; freed when it is idle. */
struct sync {
	struct table_link by_name;
	TAILQ_ENTRY(sync) in_all; /* of its kind, in order of making */
	TAILQ_ENTRY(sync) in_touched;
	TAILQ_ENTRY(sync) in_losing, in_warning; /* holders.c */
	const struct sync_class *class;
	struct claim_line queue;
	struct claim_line
	    counts; /* of a latch: those that do not wait for it */
	struct claim_list impatient; /* of both: may be answered at once */
	unsigned nimpatient;
	unsigned nclaims;     /* in both lines */
	unsigned nmaking;     /* of them: LATCH */
	uint64_t last_number; /* that a claim was given */
	unsigned ngranted;    /* claims to be told; they keep it */
	struct timer timer;   /* when it wants attention next */
	int64_t at_ms;	      /* the same, while next() collects it */
	int64_t pause_ms;     /* no operation before then */
	uint64_t op;	      /* in flight; 0: none */
	uint32_t asked_epoch; /* of the guard, when it was sent */
	char *why;	      /* owned; what Redis refused with last */
	uint32_t shard;
	enum sync_kind kind;
	bool touched;
	bool blocked; /* waits for the guard: counted in syncs.shards */
	bool hint;    /* a message says that there is something to see */
	size_t name_len;
	char *name; /* owned */
};

enum claim_state {
	CLAIM_NEW,    /* the store was not asked yet */
	CLAIM_ASKED,  /* by the operation in flight */
	CLAIM_PARKED, /* the store knows that it waits */
};

/* So many requests go into a batch, or are passed by for one. */
#define SYNC_BATCH_MAX 250

/* One request that has not been answered.  Freed by claim_free(). */
struct claim {
	TAILQ_ENTRY(claim) in_session;
	TAILQ_ENTRY(claim)
	in_sync; /* in its line; syncs.granted once granted */
	TAILQ_ENTRY(claim) in_impatient;
	struct request_key by_ref; /* tagged, in a line: syncs.by_ref */
	struct session *session;
	struct sync *sync;
	struct claim_line *line; /* of the object */
	uint64_t number;	 /* in order of arrival, of the object */
	struct permits *permits; /* granted */
	struct timer deadline;
	enum verb_id verb;
	uint64_t ref;
	uint64_t by; /* leaving: the CANCEL to be answered with it; 0: none */
	int64_t since_ms;
	int64_t hold_ms;
	int64_t ttl_ms;	     /* LATCH */
	uint64_t n;	     /* permits; count; by how much */
	uint64_t place;	     /* ASKED, PARKED: see the kind */
	uint64_t held, free; /* granted: what is told */
	enum status ending;  /* leaving: the answer */
	bool has_hold;
	bool try_only;	/* wait=0 */
	bool extended;	/* its time was up, but its outcome is under way */
	bool granted;	/* ACQUIRE: in syncs.granted, until the FLUSH */
	bool leaving;	/* BARRIER: to be answered when its place is given up */
	bool impatient; /* in sync.impatient */
};

/* What a kind is.  Static; a function that is not needed is NULL. */
struct sync_class {
	size_t size; /* of what begins with its struct sync */
	void (*init)(struct sync *y);
	void (*fini)(struct core *core, struct sync *y);
	/* Does what comes next; false: nothing is left to know. */
	bool (*next)(struct core *core, struct sync *y);
	void (*outcome)(struct core *core, struct sync *y, enum op_kind op,
	    int64_t sent_ms, const struct outcome *o);
	void (*timer)(struct core *core, struct sync *y);
	/* Will the timer tell that something is lost? */
	bool (*overdue)(const struct core *core, const struct sync *y);
	/* The time of a claim is up. */
	void (*expired)(struct core *core, struct claim *c);
	/* Does a claim of that verb stand in the line of counts? */
	bool (*counts)(enum verb_id verb);
	/* A claim shall end: must the store know before it is answered? */
	bool (*leave)(struct core *core, struct claim *c);
	/* The session of this claim is gone, and it is about to be freed. */
	void (*dropped)(struct core *core, struct claim *c);
	const char *const
	    *words; /* of its messages, with a space; NULL ends them */
	/* A message; word NULL: messages may have been missed. */
	void (*message)(struct core *core, struct sync *y, const char *word);
	/* One that was granted: is it too late to tell it?  It will not be told,
	 * or was: its permits.  False: those are no more. */
	bool (*withdrawn)(struct core *core, const struct claim *c);
	void (*take_back)(struct core *core, struct claim *c);
	bool (*untold)(struct claim *c);
	/* Is it as it can be?  For tests; aborts if not. */
	void (*check)(const struct core *core, const struct sync *y);
	/* Is something held that must be written again on a new history? */
	bool (*needs_reclaim)(const struct core *core, const struct sync *y);
};

/* What syncs tell those above: what a list may stand at is about to be freed. */
struct sync_listener {
	void (*claim_leaves)(struct core *core, const struct claim *c);
	void (*permits_leave)(struct core *core, const struct permits *p);
};

/* How far a walk over all objects has come; NULL: at its end. */
struct sync_walk {
	unsigned kind;
	struct sync *next;
};

/* What is known of the objects of one guard. */
struct sync_shard {
	uint32_t nblocked;
	unsigned sweep; /* what for, under way (sync_sweep.c) */
};

/* All objects of this broker. */
struct syncs {
	const struct sync_class *const *classes; /* SYNC_MAX of them; static */
	const struct sync_listener *above;	 /* static */
	struct table by_name[SYNC_MAX];
	struct sync_list all[SYNC_MAX];
	struct sync_list touched;
	struct sync_list losing, warning; /* semaphores: holders.c */
	struct sync_shard *shards;	  /* one a guard; owned */
	struct sync_walk sweep;	   /* over all of them, for each guard's sake */
	unsigned rounds;	   /* of that walk, yet; 0: there is none */
	struct sync_walk proof;	   /* all before have been written again ... */
	uint32_t proof_shard;	   /* ... of this guard */
	struct claim_list granted; /* to be told at the FLUSH */
	struct table permits;	   /* by session and semaphore */
	struct table by_ref;	   /* claims that wait, for CANCEL */
	uint64_t nclaims;	   /* of all sessions */
	uint64_t npermits;	   /* given out */
	LIST_HEAD(, made) made;
};

/* For the rest of the core. */
void sync_init(struct core *core, const struct sync_class *const *classes,
    const struct sync_listener *above);
void sync_fini(struct core *core);
bool sync_cancel(
    struct core *core, struct session *s, uint64_t ref, uint64_t by);
void sync_leave(struct core *core, struct session *s);

/* The broker stops, and the client of s counts on what it had. */
void sync_outlive(struct session *s);
bool sync_shutdown(struct core *core, struct session *s);
void sync_settle(struct core *core);
void sync_tell_granted(struct core *core);
void sync_outcome(struct core *core, const struct slot *slot, int64_t sent_ms,
    const struct outcome *o);
void sync_timer(struct core *core, struct timer *t);
bool sync_overdue(const struct core *core, const struct sync *y);

/* What is told in parts to all who have permits of a semaphore: losses, which
 * come before all else, and warnings.  Is there more of it? */
void holders_lose_on(struct core *core);
bool holders_lose_more(const struct core *core);
void holders_tell_on(struct core *core);
bool holders_tell_more(const struct core *core);
void claim_timer(struct core *core, struct timer *t);
bool sync_message(struct core *core, const char *text, size_t len);
/*
 * For all objects, or those of a guard.  A walk comes by them, a part of them a
 * step: messages may have been missed; those that wait for the guard go on; what
 * is held is written again.
 */
void sync_look_all(struct core *core);
void sync_unblock(struct core *core, uint32_t shard);
void sync_reclaim(struct core *core, uint32_t shard);
bool sync_asserted(struct core *core, uint32_t shard);
bool sync_all_over(const struct core *core);
bool sync_has_nothing(const struct core *core, uint32_t shard);
void sync_sweep_on(struct core *core);

/* Something is held, maybe by what was written in another epoch. */
void sync_unproved(struct core *core);

/* It is being freed. */
void sync_sweep_leave(struct core *core, const struct sync *y);

/* Do lists and counters agree?  For tests; aborts if not. */
void sync_check(const struct core *core);

/* For the kinds. */
struct sync *sync_find(
    const struct core *core, enum sync_kind kind, const char *name, size_t len);
struct sync *sync_get(
    struct core *core, enum sync_kind kind, const char *name, size_t len);
void sync_touch(struct core *core, struct sync *y);

/* A claim of the object, at the end of its queue; NULL: it was refused. */
struct claim *claim_new(struct core *core, struct session *s,
    enum sync_kind kind, const struct core_request *rq, int64_t wait_ms);
void claim_answer(struct core *core, struct claim *c, enum status status);
void claim_error(
    struct core *core, struct claim *c, enum err_code code, const char *why);
void claim_free(struct core *core, struct claim *c);

/* It does not stand in line any more, as it is granted. */
void claim_leave_line(struct core *core, struct claim *c);

/* Ends one that waits; `by` is the CANCEL that says so, 0: none. */
void claim_end(
    struct core *core, struct claim *c, enum status status, uint64_t by);

/* Does it want an answer without waiting for others? */
bool claim_impatient(const struct claim *c);

/* From now on it may be answered at once. */
void claim_hasten(struct core *core, struct claim *c);

/*
 * Those that may be answered at once, a part of them: `settle` says whether it
 * has answered one.  If it has answered any, the others come in their turn.
 */
void sync_settle_impatient(struct core *core, struct sync *y,
    bool (*settle)(struct core *core, struct claim *c));

/*
 * Its time is up, or it does not wait for Redis: says why there is no better
 * answer, in the words of the guard or of Redis; or, where neither stands in
 * the way, `status` (ERR: Redis did not answer).
 */
void claim_give_up(struct core *core, struct claim *c, enum status status);

/* Answers it where Redis is not to be asked within its time. */
bool claim_settle_unasked(struct core *core, struct claim *c);

/* An operation on the object may be sent now; else it waits. */
bool sync_may_ask(struct core *core, struct sync *y, bool ready);
struct op *sync_submit(struct core *core, struct sync *y, enum op_kind kind);

/* The operation has told nothing: again, a little later. */
void sync_retry(struct core *core, struct sync *y, const struct outcome *o);
void sync_answered(struct sync *y);

/* The object wants attention then at the latest. */
void sync_want(struct sync *y, int64_t at_ms);

/* When to look again at what runs out in ttl_ms (-1: never), or once a lease. */
int64_t sync_look_ms(const struct core *core, int64_t ttl_ms);

#endif
