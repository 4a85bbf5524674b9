/*
 * Classes: which names are in which class, and what a reload does to them.
 *
 *	configuration --> shown[] --> slots[] <-- mark of a name
 *	                                ^-------- waits and holds under way
 *
 * Waits and holds have the number of a slot, so a class stays in its slot as
 * long as it has any.  If it is gone from the configuration, it is no longer
 * shown, and its remaining waits and holds count as `other`.
 *
 * Each configuration has an epoch.  A mark of another epoch is looked up again
 * when its name is next used, so a reload looks at no name.
 */
#include "config.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/xmalloc.h"
#include "core/parts/observe/classes.h"
#include "core/parts/observe/count.h"

#define OTHER_NAME "other"

/* Minute -1 is that of no record: nothing has happened yet. */
static struct class *
class_new(const char *name)
{
	struct class *c = xcalloc(1, sizeof(*c));
	unsigned i;

	c->name = xstrdup(name);
	TAILQ_INIT(&c->waits);
	for (i = 0; i < RESULTS; i++)
		c->wait[i].scale = &measure_wait_scale;
	for (i = 0; i < FROMS; i++)
		c->handover[i].scale = &measure_handover_scale;
	c->hold.scale = &measure_hold_scale;
	c->margin.scale = &measure_margin_scale;
	for (i = 0; i < MEASURE_MINUTES; i++)
		c->minutes[i].minute = -1;
	return c;
}

static void
forget_patterns(struct class *c)
{
	size_t i;

	for (i = 0; i < c->npatterns; i++)
		free(c->patterns[i].text);
	free(c->patterns);
	c->patterns = NULL;
	c->npatterns = 0;
}

static void
class_free(struct class *c)
{
	if (c == NULL)
		return;
	forget_patterns(c);
	free(c->name);
	free(c);
}

/* Begins with the class `other` alone.  The losses of all names are one past
 * without a bound for a name of its own. */
struct measure *
measure_new(void)
{
	struct measure *m = xcalloc(1, sizeof(*m));

	m->slots[OTHER] = class_new(OTHER_NAME);
	past_init(&m->past, MEASURE_HOLDS, MEASURE_NAME_HOLDS);
	past_init(&m->losses, MEASURE_LOSSES, MEASURE_LOSSES);
	measure_configure(m, &(struct metrics_settings){ NULL, 0 });
	return m;
}

void
measure_free(struct measure *m)
{
	unsigned i;

	if (m == NULL)
		return;
	for (i = 0; i < SLOTS; i++)
		class_free(m->slots[i]);
	past_fini(&m->past);
	past_fini(&m->losses);
	free(m);
}

/* Reloads. */

static bool
is_empty(const struct class *c)
{
	return c->nwaits == 0 && c->nholds == 0;
}

/* A slot is free again once its class is neither shown nor needed. */
static void
free_unused(struct measure *m)
{
	unsigned i;

	for (i = OTHER + 1; i < SLOTS; i++) {
		if (m->slots[i] == NULL || m->slots[i]->shown ||
		    !is_empty(m->slots[i]))
			continue;
		class_free(m->slots[i]);
		m->slots[i] = NULL;
	}
}

/* Returns OTHER if no class has that name. */
static uint8_t
find_slot(const struct measure *m, const char *name)
{
	unsigned i;

	for (i = OTHER + 1; i < SLOTS; i++)
		if (m->slots[i] != NULL && strcmp(m->slots[i]->name, name) == 0)
			return (uint8_t)i;
	return OTHER;
}

static uint8_t
free_slot(const struct measure *m)
{
	unsigned i;

	for (i = OTHER + 1; i < SLOTS; i++)
		if (m->slots[i] == NULL)
			return (uint8_t)i;
	return OTHER;
}

/* The text keeps its `*`, and `n` does not count it. */
static void
take_patterns(struct class *c, const struct metrics_class *from)
{
	struct pattern *p;
	size_t i;

	forget_patterns(c);
	c->patterns = xcalloc(from->n + 1, sizeof(*c->patterns));
	for (i = 0; i < from->n; i++) {
		p = &c->patterns[c->npatterns++];
		p->text = xstrdup(from->names[i]);
		p->n = strlen(p->text);
		p->open = p->n > 0 && p->text[p->n - 1] == '*';
		p->n -= p->open;
	}
}

/* Shows a class of the configuration.  If no slot is left, because classes that
 * are gone still have them, its names are in `other`. */
static void
show(struct measure *m, const struct metrics_class *from)
{
	uint8_t slot = find_slot(m, from->name);

	if (slot == OTHER) {
		slot = free_slot(m);
		if (slot == OTHER)
			return;
		m->slots[slot] = class_new(from->name);
	}
	m->slots[slot]->shown = true;
	take_patterns(m->slots[slot], from);
	m->shown[m->nshown++] = slot;
}

void
measure_configure(struct measure *m, const struct metrics_settings *settings)
{
	struct class *c;
	size_t i;

	assert(settings->n <= METRICS_CLASSES_MAX);
	for (i = 0; i < SLOTS; i++) {
		c = m->slots[i];
		if (c != NULL)
			c->shown = false;
	}
	m->slots[OTHER]->shown = true;
	for (i = 0; i < settings->n; i++) {
		c = m->slots[find_slot(m, settings->v[i].name)];
		c->shown = true; /* not to be freed */
	}
	free_unused(m);
	m->nshown = 0;
	for (i = 0; i < settings->n; i++)
		show(m, &settings->v[i]);
	m->shown[m->nshown++] = OTHER;
	/* A mark that was never looked up has epoch 0. */
	m->epoch = m->epoch < UINT8_MAX ? m->epoch + 1 : 1;
}

/* Names. */

/* A whole name fits nothing longer; a prefix fits every name that begins with
 * it. */
static bool
fits(const struct class *c, const char *name, size_t len)
{
	const struct pattern *p;
	size_t i;

	for (i = 0; i < c->npatterns; i++) {
		p = &c->patterns[i];
		if ((len == p->n || (len > p->n && p->open)) &&
		    memcmp(p->text, name, p->n) == 0)
			return true;
	}
	return false;
}

/* The first class of the configuration that has the name counts.  `other`,
 * which is shown last, has no patterns. */
static uint8_t
slot_of(const struct measure *m, const char *name, size_t len)
{
	size_t i;

	for (i = 0; i + 1 < m->nshown; i++)
		if (fits(m->slots[m->shown[i]], name, len))
			return m->shown[i];
	return OTHER;
}

const char *
measure_class_of(const struct measure *m, const char *name, size_t name_len)
{
	return m->slots[slot_of(m, name, name_len)]->name;
}

void
measure_classify(struct measure *m, struct measure_mark *mark, const char *name,
    size_t len, uint32_t holds)
{
	if (mark->epoch == m->epoch)
		return;
	/* The holds go along.  Waits stay in their class: each has its own mark
	 * of it. */
	if (holds > 0)
		m->slots[mark->class]->nholds -= holds;
	mark->epoch = m->epoch;
	mark->class = slot_of(m, name, len);
	m->slots[mark->class]->nholds += holds;
}
