/*
 * See merge.h.  The texts of all parts stay until the end, and rows point into
 * them.  Parts come in order, but for NAMES: these are added up by name as they
 * come, and put in order at the end (names.h).
 */
#include "config.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/xmalloc.h"
#include "daemon/replace/merge.h"
#include "daemon/replace/merge_names.h"

#define ROWS_A_TIME 256
#define FIELDS_MAX 20 /* of a row; one more is added */

/* A line in the text of its part. */
struct line {
	uint32_t from, to;
};

/* A line taken apart. */
struct row {
	struct span word;
	struct field fields[FIELDS_MAX + 1];
	size_t nfields;
};

/* What one process has answered. */
struct part {
	struct buf text; /* nothing of it is consumed */
	size_t scanned;	 /* of it, before which there is no line end left */
	size_t next;	 /* the first line that was not taken yet */
	bool headed, whole;
	enum status status;
	struct line head;
	uint64_t due;	    /* rows */
	struct line *lines; /* owned; that many have come */
	size_t nlines, size;
	size_t merged;	/* so many rows are in the answer, or left out */
	struct row row; /* the next one */
};

struct merge {
	enum verb_id verb;
	uint64_t limit;
	const struct wire_protocol *protocol;
	bool begun;
	bool by_age;
	bool (*shows)(const void *arg, struct span name); /* NULL: all */
	const void *shows_arg;
	bool holder_known; /* a session that holds the name is in some part */
	struct merge_names *names; /* owned; NULL: it is not NAMES */
	struct buf rows;
	size_t nrows;
	struct row reply; /* its fields */
	size_t nparts;
	struct part parts[];
};

static const char *
text_of(const struct part *p)
{
	return buf_data(&p->text);
}

static const struct field *
find(const struct row *row, enum field_id id)
{
	size_t i;

	for (i = 0; i < row->nfields; i++)
		if (row->fields[i].id == id)
			return &row->fields[i];
	return NULL;
}

static uint64_t
number(const struct row *row, enum field_id id)
{
	const struct field *f = find(row, id);

	return f != NULL ? f->num : 0;
}

static void
take_apart(const struct part *p, struct line line, struct row *row)
{
	const char *text = text_of(p);
	const char *space = memchr(text + line.from, ' ', line.to - line.from);
	size_t end = space != NULL ? (size_t)(space - text) : line.to;

	row->word = (struct span){ text + line.from, end - line.from };
	row->nfields = lines_fields(text, end < line.to ? end + 1 : end,
	    line.to, row->fields, FIELDS_MAX);
}

static bool
is_word(struct span word, const char *text)
{
	return word.n == strlen(text) && memcmp(word.p, text, word.n) == 0;
}

/* Parts come. */

static bool
take_head(struct merge *m, struct part *p, struct line line)
{
	struct row row;

	take_apart(p, line, &row);
	p->headed = true;
	p->head = line;
	p->status = is_word(row.word, "OK") ? STATUS_OK : STATUS_ERR;
	if (p->status != STATUS_OK && !is_word(row.word, "ERR") &&
	    !is_word(row.word, "CANCELLED"))
		return false;
	p->due = number(&row, FIELD_LINES);
	if (m->names != NULL)
		merge_names_more(m->names, number(&row, FIELD_TOTAL));
	p->whole = p->due == 0;
	return true;
}

static void
take_row(struct merge *m, struct part *p, struct line line)
{
	if (p->nlines == p->size) {
		p->size = p->size == 0 ? 64 : 2 * p->size;
		p->lines = xrealloc(p->lines, p->size * sizeof(*p->lines));
	}
	p->lines[p->nlines++] = line;
	p->whole = p->nlines == p->due;
	take_apart(p, line, &p->row);
	if (m->names != NULL && m->shows != NULL &&
	    !m->shows(m->shows_arg, p->row.word))
		merge_names_less(m->names);
	else if (m->names != NULL)
		merge_names_add(m->names, p != m->parts, p->row.word,
		    p->row.fields, p->row.nfields, text_of(p));
	else if (m->verb == VERB_QUEUE && is_word(p->row.word, "holder") &&
		 find(&p->row, FIELD_SESSION) != NULL)
		m->holder_known = true;
}

static bool
take_line(struct merge *m, struct part *p, struct line line)
{
	if (line.to > line.from && text_of(p)[line.to - 1] == '\r')
		line.to--;
	if (line.to > line.from && text_of(p)[line.from] == '!')
		return true;
	if (p->whole)
		return false;
	if (!p->headed)
		return take_head(m, p, line);
	take_row(m, p, line);
	return true;
}

bool
merge_read(struct merge *m, size_t part, const char *bytes, size_t n)
{
	struct part *p = &m->parts[part];
	const char *text, *end;
	struct line line;

	assert(!m->begun);
	if (n > UINT32_MAX - buf_len(&p->text))
		return false;
	buf_add(&p->text, bytes, n);
	text = text_of(p);
	while ((end = memchr(text + p->scanned, '\n',
		    buf_len(&p->text) - p->scanned)) != NULL) {
		line.from = (uint32_t)p->next;
		line.to = (uint32_t)(end - text);
		p->next = p->scanned = line.to + 1;
		if (!take_line(m, p, line))
			return false;
	}
	p->scanned = buf_len(&p->text);
	return true;
}

bool
merge_whole(const struct merge *m, size_t part)
{
	return m->parts[part].whole;
}

/* The answer. */

static void
add_mark(struct row *row)
{
	row->fields[row->nfields++] =
	    (struct field){ .id = FIELD_LEAVING, .num = 1 };
}

static void
write_row(struct merge *m, struct span word, struct span name,
    const struct field *fields, size_t nfields, const char *arena)
{
	m->protocol->row(&m->rows, &(struct wire_row){ .word = word,
				       .name = name,
				       .fields = fields,
				       .nfields = nfields,
				       .arena = arena });
	m->nrows++;
}

/* Another process knows more of a holder that has no session here. */
static bool
is_left_out(const struct merge *m, const struct part *p)
{
	return m->verb == VERB_QUEUE && is_word(p->row.word, "holder") &&
	       find(&p->row, FIELD_SESSION) == NULL &&
	       (p != m->parts || m->holder_known);
}

/* Takes apart the next row of a part.  Returns false if it has none. */
static bool
look(const struct merge *m, struct part *p)
{
	for (; p->whole && p->merged < p->nlines; p->merged++) {
		take_apart(p, p->lines[p->merged], &p->row);
		if (!is_left_out(m, p))
			return true;
	}
	return false;
}

/* Does x come before y, which is of an earlier part? */
static bool
comes_before(const struct merge *m, const struct row *x, const struct row *y)
{
	bool holds = is_word(x->word, "holder");

	if (m->verb == VERB_HISTORY)
		return number(x, FIELD_AGO) < number(y, FIELD_AGO);
	if (holds != is_word(y->word, "holder"))
		return holds;
	return number(x, FIELD_AGE) > number(y, FIELD_AGE);
}

/* Each part is in order.  Returns false if all rows are in the answer. */
static bool
merge_one(struct merge *m)
{
	struct part *p, *first = NULL;
	size_t i;

	if (m->nrows == m->limit)
		return false;
	for (i = 0; i < m->nparts; i++) {
		p = &m->parts[i];
		if (p->merged < p->nlines &&
		    (first == NULL || comes_before(m, &p->row, &first->row)))
			first = p;
	}
	if (first == NULL)
		return false;
	if (first != m->parts)
		add_mark(&first->row);
	write_row(m, first->row.word, (struct span){ "", 0 }, first->row.fields,
	    first->row.nfields, text_of(first));
	first->merged++;
	(void)look(m, first);
	return true;
}

static bool
merge_name(struct merge *m)
{
	const struct field *fields;
	struct span name;
	const char *arena;
	size_t n;

	if (m->nrows == m->limit)
		return false;
	n = merge_names_take(m->names, &name, &fields, &arena);
	if (n > 0)
		write_row(m, (struct span){ "", 0 }, name, fields, n, arena);
	return n > 0;
}

static void
begin(struct merge *m)
{
	size_t i;

	m->begun = true;
	if (m->names != NULL)
		merge_names_order(m->names, m->by_age);
	for (i = 0; m->names == NULL && i < m->nparts; i++)
		if (!look(m, &m->parts[i]))
			m->parts[i].merged = m->parts[i].nlines;
}

bool
merge_go_on(struct merge *m)
{
	bool more = m->verb != VERB_STATUS;
	unsigned i;

	if (!m->begun) {
		begin(m);
		return more;
	}
	for (i = 0; more && i < ROWS_A_TIME; i++)
		more = m->names != NULL ? merge_name(m) : merge_one(m);
	return more;
}

/* How much a part says: nothing, why not, something, or who it is. */
static int
rank(const struct part *p, struct row *row)
{
	if (!p->whole)
		return 0;
	take_apart(p, p->head, row);
	if (p->status != STATUS_OK)
		return 1;
	return find(row, FIELD_SESSION) != NULL ? 3 : 2;
}

/* Returns the part that says most, the first of several; NULL: none does. */
static const struct part *
best(const struct merge *m)
{
	const struct part *found = NULL;
	struct row row;
	int most = 0;
	size_t i;

	for (i = 0; i < m->nparts; i++) {
		if (rank(&m->parts[i], &row) <= most)
			continue;
		found = &m->parts[i];
		most = rank(found, &row);
	}
	return found;
}

/* Adds up the field in all parts, if this one has it. */
static void
add_up(const struct merge *m, enum field_id id, struct row *row)
{
	struct field *f = (struct field *)(uintptr_t)find(row, id);
	struct row one;
	size_t i;

	if (f == NULL)
		return;
	f->num = 0;
	for (i = 0; i < m->nparts; i++)
		if (rank(&m->parts[i], &one) > 1)
			f->num += number(&one, id);
}

static void
reply_error(const struct part *p, struct wire_reply *reply)
{
	const char *text = text_of(p) + p->head.from;
	struct span word, rest = { text, p->head.to - p->head.from };
	const char *space;

	reply->status = STATUS_CANCELLED;
	if (rest.n < 4 || memcmp(text, "ERR ", 4) != 0)
		return;
	rest = (struct span){ text + 4, rest.n - 4 };
	space = memchr(rest.p, ' ', rest.n);
	word.p = rest.p;
	word.n = space != NULL ? (size_t)(space - rest.p) : rest.n;
	reply->status = STATUS_ERR;
	reply->code = err_find(word.p, word.n);
	if (reply->code == ERR_NONE)
		reply->code = ERR_INTERNAL;
	if (word.n < rest.n)
		word.n++;
	reply->text = (struct span){ rest.p + word.n, rest.n - word.n };
}

static void
reply_rows(struct merge *m, struct row *row)
{
	enum field_id id = m->names != NULL ? FIELD_TOTAL : FIELD_WAITERS;
	bool has = find(row, id) != NULL;

	row->fields[0] = (struct field){ .id = id };
	row->nfields = has;
	add_up(m, id, row);
	if (m->names != NULL)
		row->fields[0].num = merge_names_total(m->names);
}

bool
merge_reply(struct merge *m, struct wire_reply *reply)
{
	const struct part *p = best(m);
	struct row *row = &m->reply;

	if (p == NULL)
		return false;
	if (p->status != STATUS_OK) {
		reply_error(p, reply);
		return true;
	}
	take_apart(p, p->head, row);
	if (m->verb == VERB_STATUS) {
		add_up(m, FIELD_WAITERS, row);
		add_up(m, FIELD_HOLDERS, row);
		if (p != m->parts)
			add_mark(row);
	} else {
		reply_rows(m, row);
	}
	reply->status = STATUS_OK;
	reply->fields = row->fields;
	reply->nfields = row->nfields;
	reply->arena = text_of(p);
	return true;
}

const struct buf *
merge_rows(const struct merge *m, size_t *n)
{
	*n = m->nrows;
	return &m->rows;
}

struct merge *
merge_new(enum verb_id verb, uint64_t limit, size_t parts,
    const struct wire_protocol *protocol)
{
	struct merge *m = xcalloc(1, sizeof(*m) + parts * sizeof(struct part));
	size_t i;

	m->verb = verb;
	m->limit = limit;
	m->protocol = protocol;
	m->nparts = parts;
	buf_init(&m->rows);
	for (i = 0; i < parts; i++)
		buf_init(&m->parts[i].text);
	if (verb == VERB_NAMES)
		m->names = merge_names_new();
	return m;
}

void
merge_by_age(struct merge *m)
{
	assert(m->names != NULL && !m->begun);
	m->by_age = true;
}

void
merge_shows(struct merge *m, bool (*shows)(const void *arg, struct span name),
    const void *arg)
{
	assert(!m->begun);
	m->shows = shows;
	m->shows_arg = arg;
}

void
merge_free(struct merge *m)
{
	size_t i;

	for (i = 0; i < m->nparts; i++) {
		buf_fini(&m->parts[i].text);
		free(m->parts[i].lines);
	}
	if (m->names != NULL)
		merge_names_free(m->names);
	buf_fini(&m->rows);
	free(m);
}
