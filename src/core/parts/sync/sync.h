/*
 * Synchronizers other than locks: semaphores, latches and barriers.
 *
 *	owner --permits--> permits <--holders-- semaphore
 *	  |                                         |
 *	  +--waiting--> entry <--queue-- sync ------+
 *
 * A sync is this broker's knowledge of one object; each kind has a namespace of
 * its own.  An entry is a request that has not been answered.  sync.c owns both
 * and does not know what a kind means; the file of the kind does, behind its
 * struct sync_class.
 *
 * Code that changes an object calls sync_touch().  Before the step ends, the
 * kind's next() looks at each touched object and does the one thing that comes
 * next.  An object has at most one operation in flight.  An unknown outcome
 * changes nothing: the broker sends the operation again.
 */
#ifndef LOCKBROKER_CORE_PARTS_SYNC_SYNC_H
#define LOCKBROKER_CORE_PARTS_SYNC_SYNC_H

#include "core/kernel/guard/guard.h"
#include "core/kernel/session/claim.h"
#include "core/kernel/turn/job.h"
#include "core/kernel/turn/slot.h"
#include "core/parts/ids.h"

struct sync_class;
TAILQ_HEAD(entry_list, entry);
TAILQ_HEAD(sync_list, sync);

/* The entries of one object in the order of arrival, in three states: line.h. */
struct line {
	struct entry_list list;
	struct entry *asked;	  /* the first that is not parked */
	struct entry *fresh;	  /* the first that is new */
	unsigned n;		  /* entries in the line */
	unsigned nparked, nasked; /* how many of them */
};

/* One object.  The core owns it, and frees it when it is idle. */
struct sync {
	struct table_link by_name;
	TAILQ_ENTRY(sync) in_touched;
	const struct sync_class *class;
	struct line queue;
	struct line
	    counts; /* of a latch: LATCH and COUNTDOWN, which do not wait */
	struct entry_list impatient; /* of both lines: to be answered early */
	struct cursors cursors;	     /* in its lines and holders */
	unsigned nimpatient;
	unsigned nentries;    /* in both lines */
	unsigned nmaking;     /* how many of them are LATCH */
	uint64_t last_number; /* of the latest entry */
	unsigned ngranted;    /* entries not told yet; they keep the object */
	struct timer timer;   /* when the object wants attention next */
	int64_t at_ms;	      /* the same, while next() collects it */
	int64_t pause_ms;     /* no operation before then */
	int64_t look_ms;      /* when to ask again about what waits there */
	uint64_t op;	      /* in flight; 0: none */
	uint32_t asked_epoch; /* the guard's, when `op` was sent */
	char *why;	      /* owned; why Redis refused the last operation */
	uint32_t shard;
	enum kind kind;
	bool touched;
	bool blocked; /* counted in guard.nblocked */
	bool hint;    /* a message says that the store has news */
	size_t name_len;
	char *name; /* owned */
};

enum entry_state {
	ENTRY_NEW,    /* the broker has not asked the store yet */
	ENTRY_ASKED,  /* the operation in flight asks for it */
	ENTRY_PARKED, /* the store knows that it waits */
};

/* The most requests that go into a batch, or that are skipped to find one. */
#define SYNC_BATCH_MAX 250

/* One request that has not been answered: its claim, and its place in a line of
 * the object.  Freed by entry_free(). */
struct entry {
	struct claim claim;
	TAILQ_ENTRY(entry) in_sync; /* in its line, until it is granted */
	TAILQ_ENTRY(entry) in_impatient;
	struct sync *sync;
	struct line *line;	 /* of the object */
	uint64_t number;	 /* rises in the order of arrival */
	struct permits *permits; /* once granted */
	enum verb_id verb;
	uint64_t by; /* leaving: the CANCEL to answer with it; 0: none */
	int64_t hold_ms;
	int64_t ttl_ms;	     /* LATCH */
	uint64_t n;	     /* ACQUIRE: permits; LATCH, COUNTDOWN: the count */
	uint64_t place;	     /* ASKED, PARKED: the kind gives it a meaning */
	uint64_t held, free; /* granted: fields of the reply */
	enum status ending;  /* leaving: the answer */
	uint32_t given;	     /* granted, `slot`: its number */
	bool slot;	     /* ACQUIRE: slot=yes */
	bool has_hold;
	bool extended;	/* its time ran out once, with an outcome under way */
	bool leaving;	/* BARRIER: answered once its place is given up */
	bool impatient; /* in sync.impatient */
};

static inline struct entry *
entry_with(struct claim *c)
{
	return container_of(c, struct entry, claim);
}

/* NULL: it is the claim of something else. */
static inline const struct entry *
entry_seen(const struct claim *c)
{
	return c->class->kind == CLAIM_ENTRY
		   ? container_of_const(c, struct entry, claim)
		   : NULL;
}

/* The functions of a kind.  Static.  A function that a kind does not need is
 * NULL. */
struct sync_class {
	size_t size; /* of the kind's struct, which begins with struct sync */
	void (*init)(struct core *core, struct sync *y);
	void (*fini)(struct core *core, struct sync *y);
	/* Does what comes next.  Returns false if the object is idle, so that
	 * it may be freed. */
	bool (*next)(struct core *core, struct sync *y);
	void (*outcome)(struct core *core, struct sync *y, enum op_kind op,
	    int64_t sent_ms, const struct outcome *o);
	void (*timer)(struct core *core, struct sync *y);
	/* STATUS: the fields for the numbers that the store reports; FIELD_MAX:
	 * there is no second one. */
	enum field_id told[2];
	bool tells_waiters; /* and whether it says how many wait here */
	/* The time of an entry is up. */
	void (*expired)(struct core *core, struct entry *e);
	/* Do entries of that verb stand in the line `counts`? */
	bool (*counts)(enum verb_id verb);
	/* An entry shall end.  Returns true if the store must know before the
	 * entry is answered. */
	bool (*leave)(struct core *core, struct entry *e);
	/* The owner of this entry has ended; the entry is freed next. */
	void (*dropped)(struct core *core, struct entry *e);
	const char *const
	    *words; /* of its messages, with a space; NULL ends them */
	/* Takes a message; word NULL: the broker may have missed some. */
	void (*message)(struct core *core, struct sync *y, const char *word);
	/* Were the permits of a granted entry lost before it was told? */
	bool (*withdrawn)(struct core *core, struct entry *e);
	/* Undoes the grant of an entry that will not be told. */
	void (*take_back)(struct core *core, struct entry *e);
	/* Counts the entry's permits as told, as the entry is freed.  Returns
	 * false if the owner has lost or returned them meanwhile. */
	bool (*untold)(struct entry *e);
	/* Checks the kind's own rules.  For tests; aborts on a fault. */
	void (*check)(const struct core *core, const struct sync *y);
	/* The server's history has changed: plans to write again what the
	 * broker holds here. */
	void (*reclaim)(struct core *core, struct sync *y);
};

/* All objects of this broker. */
struct syncs {
	const struct sync_class *const *classes; /* by kind; static */
	struct table by_name[KIND_MAX];
	struct sync_list touched;
	struct table permits; /* by owner and semaphore */
	uint64_t nentries;    /* of all owners */
	uint64_t npermits;    /* that owners have */
	LIST_HEAD(, latch_count) latch_counts;
};

static inline struct syncs *
syncs_of(const struct core *core)
{
	return core->part[PART_SYNC];
}

/* For the rest of the core. */
void sync_init(struct core *core, const struct sync_class *const *classes);
void sync_fini(struct core *core);

/* A job: calls next() of touched objects. */
bool sync_settle(struct core *core);

/* The object's operation has ended; its timer is due. */
void sync_outcome(
    struct core *core, const struct slot *slot, const struct outcome *o);
void sync_timer(struct core *core, struct timer *t);

/* Takes the message `WORD 0 NAME`.  Returns false if no kind has the word. */
bool sync_message(struct core *core, const char *text, size_t len);
/* What a walk over all objects does. */
extern const struct swept syncs_swept;

/* Is no object left? */
bool sync_all_over(const struct core *core);

/* Checks that lists and counters agree.  For tests; aborts on a fault.  Returns
 * how many objects are blocked. */
size_t sync_check(const struct core *core);

/* For the kinds.  Returns NULL if there is no such object. */
struct sync *sync_find(
    const struct core *core, enum kind kind, const char *name, size_t len);

static inline struct sync *
sync_of(struct table_link *link)
{
	return container_of(link, struct sync, by_name);
}

static inline void
sync_touch(struct core *core, struct sync *y)
{
	if (y->touched)
		return;
	y->touched = true;
	TAILQ_INSERT_TAIL(&syncs_of(core)->touched, y, in_touched);
	job_set(core, JOB_TOUCHED_SYNCS, true);
}

/* Makes an entry at the end of a line of its object.  Returns NULL if it has
 * answered the request with an error instead. */
struct entry *entry_new(struct core *core, struct owner *owner, enum kind kind,
    const struct core_request *rq, int64_t wait_ms);

/* Answer the request, and free the entry. */
void entry_answer(struct core *core, struct entry *e, enum status status);
void entry_error(
    struct core *core, struct entry *e, enum err_code code, const char *why);
void entry_free(struct core *core, struct entry *e);

/* Takes an entry out of its line: the FLUSH tells that it was granted. */
void entry_grant(struct core *core, struct entry *e);

/* Ends a waiting entry with `status`; `by` is the CANCEL that asks for it, or
 * 0.  The entry may live on until the store knows. */
void entry_end(
    struct core *core, struct entry *e, enum status status, uint64_t by);

/* Does its client want an answer without waiting for others? */
bool entry_impatient(const struct entry *e);

/* Puts the entry on the list of those that may be answered at once. */
void entry_hasten(struct core *core, struct entry *e);

/*
 * Calls `settle` for the first entries on that list; it returns whether it has
 * answered the entry.  If it answers any, the object is touched, so that the
 * rest of the list gets its turn.
 */
void sync_settle_impatient(struct core *core, struct sync *y,
    bool (*settle)(struct core *core, struct entry *e));

/*
 * Answers an entry whose time is up, or that does not wait for Redis.  If the
 * guard or Redis stands in the way, the answer is an error that says why;
 * otherwise it is `status` (ERR: Redis did not answer).
 */
void entry_give_up(struct core *core, struct entry *e, enum status status);

/* Answers the entry if the broker cannot ask Redis within the entry's time.
 * Returns whether it has. */
bool entry_settle_unasked(struct core *core, struct entry *e);

/* May the broker send an operation on the object now?  If not, the object waits
 * for the guard (`ready` is false) or for the end of its pause. */
bool sync_may_ask(struct core *core, struct sync *y, bool ready);

/* Requires that no operation is in flight for the object. */
struct op *sync_submit(struct core *core, struct sync *y, enum op_kind kind);

/* Does the outcome say nothing about the object? */
bool sync_says_nothing(const struct outcome *o);

/* For an outcome that says nothing: the object may ask again after a pause. */
void sync_retry(struct core *core, struct sync *y, const struct outcome *o);

/* Redis has answered: forgets the pause and the last refusal. */
void sync_answered(struct sync *y);

/* Takes a message of a kind that does not distinguish its words: the object
 * looks at the store now (word NULL: soon). */
void sync_hint(struct core *core, struct sync *y, const char *word);

/* The object wants attention at that time, or before.  For next(). */
void sync_want(struct sync *y, int64_t at_ms);

/* Returns when to look again at something that ends in ttl_ms (-1: never); at
 * most one lease from now. */
int64_t sync_look_ms(const struct core *core, int64_t ttl_ms);

/* The kinds; semaphores have semaphore.h. */

extern const struct sync_class latch_class, barrier_class;

/* A latch that was made here no longer counts; none does. */
void latch_count_timer(struct core *core, struct timer *t);
void latch_count_fini(struct core *core);

#endif
