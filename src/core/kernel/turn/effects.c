/*
 * The effects of steps: a growing list, and the functions that append to it.
 *
 * The order of the list is a promise: the driver carries effects out in that
 * order, so a loss that was emitted before a grant is sent before it.
 *
 * Names and texts are copied into an arena, because their owners may be gone
 * when the effects are carried out.  Effects and fields have offsets into it,
 * and no pointers: list and arena move when they grow.
 */
#include "config.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/xmalloc.h"
#include "core/kernel/turn/emit.h"
#include "core/kernel/turn/turn.h"
#include "core/parts/token/token.h"

void
effects_init(struct effects *fx)
{
	memset(fx, 0, sizeof(*fx));
	buf_init(&fx->text);
}

void
effects_fini(struct effects *fx)
{
	free(fx->v);
	free(fx->fields);
	free(fx->ops);
	free(fx->tokens);
	buf_fini(&fx->text);
}

void
effects_clear(struct effects *fx)
{
	fx->n = 0;
	fx->nfields = 0;
	fx->nops = 0;
	fx->ntokens = 0;
	buf_clear(&fx->text);
}

/*
 * Turns offsets into pointers.  They are good until the next effect is emitted,
 * so the driver asks when the step is over.  Most operations on guards have no
 * name, and if nothing else has a text, the arena has no memory either.
 */
const struct op *
effects_op(struct effects *fx, const struct effect *e)
{
	struct op *op;

	assert(e->kind == EFFECT_OP);
	assert(e->op < fx->nops);
	op = &fx->ops[e->op];
	op->name = fx->text.mem == NULL ? "" : buf_data(&fx->text) + e->name;
	op->name_len = e->name_len;
	if (op->holder_len > 0)
		op->holder = buf_data(&fx->text) + op->holder_at;
	if (op->other_len > 0)
		op->other = buf_data(&fx->text) + op->other_at;
	return op;
}

/* Room for one more item of `item` bytes. */
static void *
grow(void *v, size_t n, size_t *size, size_t item)
{
	if (n < *size)
		return v;
	*size = *size == 0 ? 64 : 2 * *size;
	return xrealloc(v, *size * item);
}

static uint32_t
add_text(struct effects *fx, const char *p, size_t n)
{
	uint32_t at = (uint32_t)buf_len(&fx->text);

	buf_add(&fx->text, p, n);
	return at;
}

/*
 * Notes the connection that the session has at this moment.  A later step of
 * the same turn may give the session another one (RESUME), and earlier replies
 * and events are not meant for the new connection.
 */
static struct effect *
add_effect(struct core *core, enum effect_kind kind, uint64_t session)
{
	struct effects *fx = core->fx;
	struct effect *e;

	assert(fx != NULL);
	fx->v = grow(fx->v, fx->n, &fx->size, sizeof(*fx->v));
	e = &fx->v[fx->n++];
	memset(e, 0, sizeof(*e));
	e->kind = kind;
	e->session = session;
	e->conn = session == 0 ? 0 : core->above->conn_of(core, session);
	e->field = (uint32_t)fx->nfields;
	return e;
}

void
emit_reply(
    struct core *core, uint64_t session, uint64_t ref, enum status status)
{
	struct effect *e = add_effect(core, EFFECT_REPLY, session);

	e->ref = ref;
	e->status = status;
}

static void set_text(struct effects *fx, struct effect *e, const char *fmt,
    va_list ap) __attribute__((format(printf, 3, 0)));

static void
set_text(struct effects *fx, struct effect *e, const char *fmt, va_list ap)
{
	e->text = (uint32_t)buf_len(&fx->text);
	buf_addv(&fx->text, fmt, ap);
	e->text_len = (uint32_t)buf_len(&fx->text) - e->text;
}

void
emit_error(struct core *core, uint64_t session, uint64_t ref,
    enum err_code code, const char *fmt, ...)
{
	struct effect *e = add_effect(core, EFFECT_REPLY, session);
	va_list ap;

	e->ref = ref;
	e->status = STATUS_ERR;
	e->code = code;
	va_start(ap, fmt);
	set_text(core->fx, e, fmt, ap);
	va_end(ap);
}

void
emit_undone(struct core *core)
{
	struct effects *fx = core->fx;

	assert(fx->n > 0);
	assert(fx->v[fx->n - 1].kind == EFFECT_REPLY);
	fx->v[fx->n - 1].undone = true;
}

void
emit_circle(
    struct core *core, uint64_t session, uint64_t ref, struct span circle)
{
	static const char text[] = "sessions would deadlock";
	struct effects *fx = core->fx;

	emit_error(core, session, ref, ERR_DEADLOCK, "%s: %.*s", text,
	    (int)circle.n, circle.p);
	fx->v[fx->n - 1].open_len = sizeof(text) - 1;
}

void
emit_notice(struct core *core, enum notice_id id)
{
	add_effect(core, EFFECT_LOG, 0)->notice = id;
}

/*
 * A loss goes out before any grant of its turn: a FLUSH that finds told_loss
 * sends no grant, and the driver writes the loss before it sends the next one
 * (core.h).
 */
void
emit_event(struct core *core, uint64_t session, enum event_id event,
    const char *name, size_t name_len)
{
	struct effect *e = add_effect(core, EFFECT_EVENT, session);

	core->told_loss = core->told_loss || event == EVENT_LOST;
	e->event = event;
	e->name = add_text(core->fx, name, name_len);
	e->name_len = (uint32_t)name_len;
}

void
emit_queue(struct core *core, uint64_t session, uint64_t ref, enum kind kind,
    uint64_t limit, const char *name, size_t name_len)
{
	struct effect *e = add_effect(core, EFFECT_QUEUE, session);

	e->ref = ref;
	e->kind_of = kind;
	e->limit = limit;
	e->name = add_text(core->fx, name, name_len);
	e->name_len = (uint32_t)name_len;
}

void
emit_fleet(struct core *core, uint64_t session, uint64_t ref)
{
	add_effect(core, EFFECT_FLEET, session)->ref = ref;
}

void
emit_why(struct core *core, uint64_t session, uint64_t ref, unsigned n)
{
	struct effect *e = add_effect(core, EFFECT_WHY, session);

	e->ref = ref;
	e->limit = n;
}

void
emit_link(struct core *core, const char *name, size_t name_len)
{
	struct effect *e = add_effect(core, EFFECT_LINK, 0);

	e->name = add_text(core->fx, name, name_len);
	e->name_len = (uint32_t)name_len;
}

void
emit_attach(struct core *core, uint64_t session, int64_t heartbeat_ms)
{
	struct effect *e = add_effect(core, EFFECT_ATTACH, session);

	e->heartbeat_ms = heartbeat_ms;
}

void
emit_close(struct core *core, uint64_t conn)
{
	add_effect(core, EFFECT_CLOSE, 0)->conn = conn;
}

/* The result has no bound until the caller sets one.  The pointer is good until
 * the next emit_token(), which may move all results. */
struct token_result *
emit_token(struct core *core, uint64_t session, uint64_t ref, const char *token,
    size_t token_len)
{
	struct effects *fx = core->fx;
	struct effect *e = add_effect(core, EFFECT_TOKEN, session);
	struct token_result *r;

	fx->tokens =
	    grow(fx->tokens, fx->ntokens, &fx->tokens_size, sizeof(*r));
	e->ref = ref;
	e->token = (uint32_t)fx->ntokens++;
	r = &fx->tokens[e->token];
	memset(r, 0, sizeof(*r));
	r->left_ms = -1;
	r->token = add_text(fx, token, token_len);
	r->token_len = (uint32_t)token_len;
	return r;
}

struct op *
emit_op(struct core *core, const char *name, size_t name_len)
{
	struct effects *fx = core->fx;
	struct effect *e = add_effect(core, EFFECT_OP, 0);
	struct op *op;

	fx->ops = grow(fx->ops, fx->nops, &fx->ops_size, sizeof(*fx->ops));
	e->op = (uint32_t)fx->nops++;
	e->name = add_text(fx, name, name_len);
	e->name_len = (uint32_t)name_len;
	op = &fx->ops[e->op];
	/* `pend` is long, and few operations have one: its first byte makes it
	 * the empty string. */
	memset(op, 0, offsetof(struct op, pend) + 1);
	return op;
}

void
emit_op_holder(
    struct core *core, struct op *op, const char *holder, const char *other)
{
	op->holder_len = strlen(holder);
	op->holder_at = add_text(core->fx, holder, op->holder_len);
	op->other_len = strlen(other);
	op->other_at = add_text(core->fx, other, op->other_len);
}

/*
 * The fields of an effect stand in one piece, so they must be emitted before
 * anything else is.  The assertion finds code that emits an effect in between.
 */
static struct field *
add_field(struct effects *fx, enum field_id id)
{
	struct effect *e = &fx->v[fx->n - 1];
	struct field *f;

	assert(e->field + e->nfields == fx->nfields);
	fx->fields = grow(
	    fx->fields, fx->nfields, &fx->fields_size, sizeof(*fx->fields));
	f = &fx->fields[fx->nfields++];
	e->nfields++;
	memset(f, 0, sizeof(*f));
	f->id = id;
	return f;
}

void
emit_num(struct core *core, enum field_id id, uint64_t num)
{
	add_field(core->fx, id)->num = num;
}

void
emit_str(struct core *core, enum field_id id, const char *str, size_t len)
{
	struct field *f = add_field(core->fx, id);

	f->str = add_text(core->fx, str, len);
	f->len = (uint32_t)len;
}

void
emit_fmt(struct core *core, enum field_id id, const char *fmt, ...)
{
	struct field *f = add_field(core->fx, id);
	struct buf *text = &core->fx->text;
	va_list ap;

	f->str = (uint32_t)buf_len(text);
	va_start(ap, fmt);
	buf_addv(text, fmt, ap);
	va_end(ap);
	f->len = (uint32_t)buf_len(text) - f->str;
}

void
emit_text(struct core *core, enum field_id id, const char *text)
{
	emit_str(core, id, text, strlen(text));
}

void
emit_since(struct core *core, enum field_id id, int64_t since_ms)
{
	int64_t ms = core->now_ms - since_ms;

	emit_num(core, id, ms > 0 ? (uint64_t)ms : 0);
}

/* core_free() ends sessions outside a step, when there is no list to append
 * to. */
bool
emit_debugs(const struct core *core)
{
	return core->fx != NULL && core->config.debug;
}
