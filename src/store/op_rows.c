/*
 * The table of operations.
 */
#include "config.h"

#include "store/op_rows.h"

#define CAN_WAIT true
#define AT_ONCE false
#define MAY(status) (1u << OUTCOME_##status)
#define LIST(...) __VA_ARGS__

const struct op_row op_rows[OP_MAX] = {
#define OP(id, word, script, keys, args, wait, answers)                     \
	[OP_##id] = { word, sizeof(word) - 1, SCRIPT_##script, KEYS_##keys, \
		wait, { LIST args },                                        \
		(answers) | MAY(PENDING) | MAY(REFUSED) },
#include "store/ops.def"
#undef OP
};
