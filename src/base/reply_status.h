/*
 * How a request ends, and the events that a session gets: two lists that the
 * core uses and the wire writes.
 */
#ifndef LOCKBROKER_BASE_REPLY_STATUS_H
#define LOCKBROKER_BASE_REPLY_STATUS_H

enum status {
	STATUS_OK,
	STATUS_BUSY,
	STATUS_TIMEOUT,
	STATUS_CANCELLED,
	STATUS_ERR,
	STATUS_MAX
};

/* clang-format off */
/* EVENT(identifier, "WORD") */
#define EVENTS(EVENT) \
	EVENT(ATRISK, "ATRISK") \
	EVENT(SAFE, "SAFE") \
	EVENT(LOST, "LOST") \
	EVENT(HELD, "HELD") \
	EVENT(FREE, "FREE") \
	EVENT(LEAVING, "LEAVING") \
	EVENT(SHUTDOWN, "SHUTDOWN")
/* clang-format on */

enum event_id {
#define EVENT(id, word) EVENT_##id,
	EVENTS(EVENT)
#undef EVENT
	    EVENT_MAX
};

#endif
