/*
 * The table of ablations and the edits of the scripts.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/xmalloc.h"

#include "ablate.h"
#include "faults.h"
#include "topology.h"
#include "uses.h"

#define DATA_LOSS (FAULT_RESTART | FAULT_FLUSH)

const struct ablation ablations[] = {
	{ "guard", "every server may grant, whatever its history", 20,
	    ABLATE_SCRIPT, DATA_LOSS, 0,
	    { { "local blessed = g[1] == replid", "local blessed = true" },
		{ "blessed, pend = false, false", "" } } },
	{ "grace", "a new history is blessed at once", 20, ABLATE_SCRIPT,
	    DATA_LOSS, 0,
	    { { "local blessed = g[1] == replid",
		"redis.call('HSET', guard, 'id', replid, 'at', now_ms) "
		"local blessed = true" } } },
	{ "nonce", "an epoch is known by its history alone", 500, ABLATE_SCRIPT,
	    FAULT_FLUSH, 0,
	    { { "pend = replid .. \":\" .. nonce",
		"pend = replid .. \":0\"" } } },
	{ "stall", "a server that was frozen, or whose clock jumped, goes on",
	    100, ABLATE_SCRIPT, FAULT_CLOCK | FAULT_PAUSE, 0,
	    { { "if (blessed or pend) and now_ms - at > stall_ms",
		"if false" } } },
	{ "stall-spell", "the same, while leases are written again", 4000,
	    ABLATE_SCRIPT, FAULT_CLOCK | FAULT_RESTART, 0,
	    { { "if (blessed or pend) and now_ms - at > stall_ms",
		"if blessed and now_ms - at > stall_ms" } } },
	{ "back", "data that went back are taken for new ones", 100,
	    ABLATE_SCRIPT, FAULT_BACK, 0,
	    { { "if (blessed or pend) and now_ms - at > stall_ms",
		"if false" } } },
	{ "back-idle", "nobody misses itself in data of when nobody was there",
	    200, ABLATE_SCRIPT, FAULT_BACK | FAULT_STOP, 0,
	    { { "if not beat and (blessed or pend) and "
		"string.sub(ARGV[1], 17) == history then",
		"if false then" } } },
	{ "spoil", "any counter of fences is believed", 10, ABLATE_SCRIPT,
	    FAULT_SPOIL, 0,
	    { { "if not top or top >= 2 ^ 52 and top - seen >= 2 ^ 32 then",
		"if not top then" } } },
	{ "standstill", "a broker does not see that its clock stood still", 100,
	    ABLATE_GAIN, FAULT_STANDSTILL, 0, { { NULL, NULL } } },
	{ "many-stall", "the first of them, with many brokers", 300,
	    ABLATE_MANY, FAULT_CLOCK | FAULT_PAUSE, 0,
	    { { "if (blessed or pend) and now_ms - at > stall_ms",
		"if false" } } },
	{ "many-watch", "nobody watches for brokers that stay away", 300,
	    ABLATE_MANY, 0, 0,
	    { { "if #others < 2 then", "if false then" },
		{ "math.floor(brokers / 8)", "brokers" } } },
	{ "acquire-taken", "acquire does not look who has the name", 5,
	    ABLATE_SCRIPT, 0, 0,
	    { { "op.acquire =|if owner == token and not shares then",
		"if owner and not shares then" } } },
	{ "end-token", "end does not compare the token", 200, ABLATE_SCRIPT,
	    FAULT_CUT | FAULT_FREEZE | FAULT_DELAY, 0,
	    { { "drop\" then|find(value, token, 1, true) == 1 and not "
		"find(value, \"|\", #token + 1, true)",
		  "find(value, \"^[^@|]+|%d+$\")" },
		{ "ARGV[12] ==|find(value, token, 1, true) == 1 and not "
		  "find(value, \"|\", #token + 1, true)",
		    "find(value, \"^[^@|]+|%d+$\")" },
		{ "op[\"end\"] =|string.sub(value, 1, #token + 1) == token "
		  ".. \"|\" and (not string.find(value, \"|\", #token + 2, "
		  "true)",
		    "(string.find(value, \"^[^@|]+|%d+$\")" } } },
	{ "heir-key", "the key of an heir ends before its hand-over lease", 500,
	    ABLATE_SCRIPT, FAULT_FREEZE | FAULT_DELAY | FAULT_HICCUP, 0,
	    { { "local function pass_on|2 * pad_ms",
		"math.floor(pad_ms / 8)" } } },
	{ "heir-clock", "the time that an heir is told is a second ahead", 500,
	    ABLATE_SCRIPT, FAULT_MESSAGE | FAULT_DELAY | FAULT_FREEZE, 0,
	    { { "local function pass_on|clock[1]", "clock[1] + 1" } } },
	{ "confirm-token", "confirm does not compare the token", 500,
	    ABLATE_SCRIPT, FAULT_MESSAGE | FAULT_FREEZE, 0,
	    { { "op.confirm =|if parse(value) ~= token then",
		"if false then" } } },
	{ "fence-clock", "fences are counted, without clock and memory", 300,
	    ABLATE_SCRIPT, DATA_LOSS, 0,
	    { { "local lowest =|quorum and 0 or now_us, seen + 1", "0" },
		{ "if not quorum and seen > top then", "if false then" } } },
	{ "fence-counter", "fences are the time, not counted", 300,
	    ABLATE_SCRIPT, FAULT_CLOCK, 0,
	    { { "local lowest =|quorum and 0 or now_us, seen + 1", "now_us" },
		{ "grab\" then|math.max(top + 1, lowest)", "lowest" },
		{ "claim\" then|math.max(top + 1, lowest)", "lowest" },
		{ "local function draw|math.max(top + 1, lowest)",
		    "lowest" } } },
	{ "upgrade-alone", "a sharer gets the name although others share it",
	    50, ABLATE_SCRIPT, 0, 0,
	    { { "op.convert =|if #all > 1 then", "if false then" } } },
	{ "share-exclusive", "who wants to share does not look who has it", 50,
	    ABLATE_SCRIPT, 0, 0,
	    { { "op.acquire =|phase(value) and join(key, queue, shared, token, "
		"ttl)",
		"value and (phase(value) or draw(1))" } } },
	{ "phase-fence", "each who comes to share draws a fence", 50,
	    ABLATE_SCRIPT, 0, 0,
	    { { "op.acquire =|return { \"granted\", fence, 0",
		"return { \"granted\", draw(1), 0" } } },
	{ "phase-alone", "the next phase has the fence before it", 50,
	    ABLATE_SCRIPT, 0, 0,
	    { { "local function begin_phase|draw(1)", "top" } } },
	{ "phase-fair", "who shares does not look who waits", 500,
	    ABLATE_SCRIPT, 0, 0,
	    { { "local function join(|if redis.call(\"EXISTS\", queue) == 1",
		"if false" } } },
	{ "share-keep", "who shared a name leaves nothing of a keep=", 50,
	    ABLATE_SCRIPT, 0, USE_KEEPS,
	    { { "local function end_share|if had and tonumber(linger) > 0 then",
		"if false then" } } },
	{ "share-over", "a name counts as held until the marker ends", 2000,
	    ABLATE_SCRIPT, 0, USE_KEEPS | USE_WATCH,
	    { { "local function present|phase(value) and lasts(shared) or",
		"" } } },
	{ "permits-limit", "take does not look what others have", 50,
	    ABLATE_SCRIPT, 0, 0,
	    { { "op.take =|s.used + need <= limit then", "need <= limit then" },
		{ "math.min(want, limit - s.used)",
		    "math.min(want, limit)" } } },
	{ "permits-mixed", "take does not look for which limit others have", 50,
	    ABLATE_SCRIPT, 0, USE_SEMAPHORES,
	    { { "op.take =|if s.used > 0 and s.limit ~= limit then",
		"if false then" } } },
	{ "permits-head", "who is not the first in the queue takes, too", 500,
	    ABLATE_SCRIPT, 0, USE_SEMAPHORES,
	    { { "op.take =|if (not head or head.who == me) and s.used + need",
		"if s.used + need" } } },
	{ "permits-hint", "nobody is told that there are permits for him", 50,
	    ABLATE_SCRIPT, 0, USE_SEMAPHORES,
	    { { "local function sem_wake|hint(q.who, \"permit\", s.key)",
		"true" } } },
	{ "permits-expire", "what a broker had that is gone is never free", 100,
	    ABLATE_SCRIPT, FAULT_CRASH, 0,
	    { { "local function sem_load|elseif till <= now_ms then",
		  "elseif false then" },
		{ "local function sem_answer|s.soon < math.huge and",
		    "s.soon < math.huge and s.soon >= now_ms and" } } },
	{ "slots-others", "a slot that another one has is given, too", 50,
	    ABLATE_SCRIPT, 0, USE_SEMAPHORES | USE_SLOTS,
	    { { "local function sem_slots|elseif who ~= me then",
		"elseif false then" } } },
	{ "slots-stated", "a slot that sessions have is not said again", 50,
	    ABLATE_SCRIPT, 0, USE_SEMAPHORES | USE_SLOTS,
	    { { "local function sem_slots|string.gmatch(list or \"\"",
		"string.gmatch(\"\"" } } },
	{ "slots-expire", "the slots of a broker that is gone are never free",
	    200, ABLATE_SCRIPT, FAULT_CRASH, USE_SEMAPHORES | USE_SLOTS,
	    { { "local function sem_slots|if not s.has[who] then",
		"if false then" } } },
	{ "latch-made", "a latch is made whether there is one or not", 50,
	    ABLATE_SCRIPT, 0, USE_LATCH,
	    { { "op.latch =|if made and made ~= me .. \".\" .. seq then",
		  "if false then" },
		{ "op.latch =|if not made then", "if true then" } } },
	{ "latch-once", "a count-down whose reply was lost counts again", 500,
	    ABLATE_SCRIPT, FAULT_CUT, USE_LATCH,
	    { { "op.countdown =|last == seq and", "false and" } } },
	{ "latch-use", "a latch that is used does not live on", 50,
	    ABLATE_SCRIPT, 0, USE_LATCH,
	    { { "op.countdown =|latch_touch(key, g[2], latch_tell(key, count == "
		"0))",
		"latch_tell(key, count == 0)" } } },
	{ "latch-open", "nobody is told that a latch opens", 50, ABLATE_SCRIPT,
	    0, USE_LATCH,
	    { { "local function latch_tell|hint(who, \"open\", key)", "" } } },
	{ "latch-early", "who asks is told that a latch is open", 50,
	    ABLATE_SCRIPT, 0, USE_LATCH,
	    { { "op.await =|return { count > 0 and \"shut\" or \"open\"",
		"return { \"open\"" } } },
	{ "barrier-once", "parties whose arrival was not heard of come again",
	    200, ABLATE_SCRIPT, FAULT_CUT, USE_BARRIER,
	    { { "op.arrive =|if e and e.seq == seq then", "if false then" },
		{ "op.arrive =|if gen > 0 and not", "if false and not" },
		{ "op.arrive =|elseif gen == 0 and e and",
		    "elseif false and" } } },
	{ "barrier-leave", "who leaves a barrier does not break it", 50,
	    ABLATE_SCRIPT, 0, USE_BARRIER,
	    { { "op.leave =|if e.state == \"w\" then", "if false then" } } },
	{ "barrier-dead", "the places of a dead broker count for ever", 100,
	    ABLATE_SCRIPT, FAULT_CRASH, USE_BARRIER,
	    { { "local function bar_load|over = over or state == \"w\"",
		"b.at[who] = { gen = tonumber(gen), state = state, seq = seq, "
		"base = tonumber(base), took = tonumber(took), "
		"till = now_ms + 60000 }" } } },
	{ "barrier-hint", "nobody is told that a barrier trips or breaks", 50,
	    ABLATE_SCRIPT, 0, USE_BARRIER,
	    { { "local function bar_next|hint(who, \"barrier\", b.key)",
		"" } } },
	{ "generation", "two generations have one number", 50, ABLATE_SCRIPT, 0,
	    USE_BARRIER,
	    { { "local function bar_next|b.gen + 1 or draw(1)",
		"b.gen or draw(1)" } } },
	{ "session-grace", "a session ends with its connection", 50,
	    ABLATE_GRACE, 0, USE_SESSION, { { NULL, NULL } } },
	{ "session-kept", "nobody hears what was lost while he was away", 200,
	    ABLATE_KEPT, FAULT_PAUSE, USE_SESSION, { { NULL, NULL } } },
	{ "heartbeat", "who is back owes no heartbeat any more", 50,
	    ABLATE_HEARTBEAT, 0, USE_SESSION | USE_HEARTBEAT,
	    { { NULL, NULL } } },
	{ "watch", "watchers don't hear that a name is free", 50, ABLATE_WATCH,
	    0, USE_WATCH, { { NULL, NULL } } },
	{ "force-asks", "the other broker is not told to let go", 50,
	    ABLATE_SCRIPT, 0, USE_FORCE,
	    { { "op.force =|tell(token, word, key, now) and 1 or 0", "1" } } },
	{ "force-waits", "who forces does not wait for the other broker", 50,
	    ABLATE_SCRIPT, 0, USE_FORCE,
	    { { "op.force =|return { \"value\"", "return { \"ended\"" } } },
	{ "force-late", "an old request to force is carried out", 5000,
	    ABLATE_SCRIPT, FAULT_CUT | FAULT_DELAY | FAULT_PAUSE, USE_FORCE,
	    { { "op.force =|if tonumber(by) > 0 and now_ms > tonumber(by) then",
		"if false then" } } },
	{ "drill-grants", "a drill ends a hold at once", 50,
	    ABLATE_DRILL_GRANTS, 0, USE_DRILL, { { NULL, NULL } } },
	{ "drill-told", "nobody tells the holder of a drill", 50,
	    ABLATE_DRILL_TOLD, 0, USE_DRILL, { { NULL, NULL } } },
	{ "pass", "a request for several names waits at the end", 50,
	    ABLATE_PASS, 0, 0, { { NULL, NULL } } },
	{ "kill", "the old connection is not killed", 4000, ABLATE_KILL,
	    FAULT_CUT | FAULT_DELAY | FAULT_PAUSE, 0, { { NULL, NULL } } },
	{ "sent", "a lease counts from the reply", 12000, ABLATE_ARRIVAL,
	    FAULT_DELAY | FAULT_PAUSE | FAULT_FREEZE, 0, { { NULL, NULL } } },
	{ "flush", "grants are told without looking at the clock again", 200,
	    ABLATE_FLUSH, FAULT_HICCUP, 0, { { NULL, NULL } } },
	{ "hurry", "calls leave before it is told what was lost", 2000,
	    ABLATE_HURRY, FAULT_HICCUP, 0, { { NULL, NULL } } },
	{ "catch-up", "a PING is answered before it is told what was lost",
	    2000, ABLATE_CATCH_UP, FAULT_FREEZE | FAULT_HICCUP, 0,
	    { { NULL, NULL } } },
	{ "reset", "a connection that breaks counts as closed by its client",
	    100, ABLATE_RESET, FAULT_APART, 0, { { NULL, NULL } } },
	{ "proxied", "so does one that a proxy closes", 200, ABLATE_PROXIED,
	    FAULT_APART, 0, { { NULL, NULL } } },
	{ "quit-only", "so does one that its client's kernel closes", 200,
	    ABLATE_QUIT_ONLY, FAULT_APART, USE_HEARTBEAT, { { NULL, NULL } } },
	{ "trust", "a server that has lost its data is trusted as a new one",
	    2000, ABLATE_TRUST, DATA_LOSS | FAULT_CRASH, 0,
	    { { NULL, NULL } } },
	{ "token-taken", "a token takes a name whoever has it", 20,
	    ABLATE_TOKENS, 0, 0,
	    { { "op.claim =|if value then", "if false then" } } },
	{ "warm-acquire", "a warm name is taken to who would have it at once",
	    200, ABLATE_WARM, 0, 0,
	    { { "op.acquire =|and keeps_warm(owner) or 0", "and 0 or 0" } } },
	{ "warm-recall", "nobody tells the broker that keeps a name warm", 200,
	    ABLATE_WARM, 0, 0,
	    { { "if not tell(owner, \"recall\", key,",
		"if not tell(owner, \"nothing\", key," } } },
	{ "warm-look", "a warm name is held to who asks for its state", 500,
	    ABLATE_WARM, 0, 0,
	    { { "local function look_at(|not client and keeps_warm(owner) or 0",
		"0" } } },
	{ "warm-force", "a warm name is forced", 1000, ABLATE_WARM, 0,
	    USE_FORCE,
	    { { "op.force =|if owner and sure == \"0\" and keeps_warm(owner) "
		"== 1",
		"if false" } } },
	{ "warm-claim", "a warm name is taken to a token", 500,
	    ABLATE_WARM_TOKENS, 0, 0,
	    { { "local function described(|kind == 2 and keeps_warm(owner) or 0",
		"0" } } },
	{ "token-release", "a token ends the hold of another one", 200,
	    ABLATE_TOKENS, 0, 0,
	    { { "op.token_odd =|not stored or not means(stored, asked, match)",
		"not stored or what == \"e\" and not means(stored, asked, "
		"match)" } } },
	{ "token-extend", "a token extends the hold of another one", 50,
	    ABLATE_TOKENS, 0, 0,
	    { { "op.token_odd =|not stored or not means(stored, asked, match)",
		"not stored or what == \"r\" and not means(stored, asked, "
		"match)" } } },
	{ "depth-taken", "a hold that is taken once more has its old depth", 20,
	    ABLATE_THREADS, 0, 0,
	    { { "op.token_odd =|depth + (what ~= \"r\" and 1 or",
		"depth + (what ~= \"r\" and 0 or" } } },
	{ "depth-given", "an unlock gives back all levels", 50, ABLATE_THREADS,
	    0, 0,
	    { { "op.token_odd =|if what == \"e\" or depth and depth > 0 then",
		"if what == \"e\" then" } } },
	{ "depth-renewed", "a renewal counts as a level", 50, ABLATE_THREADS, 0,
	    0,
	    { { "op.token_odd =|if depth and (what == \"r\" or client ~= "
		"\"\") then",
		"if depth then" } } },
	{ "thread-told", "no program is told of its turn", 50, ABLATE_TOLD, 0,
	    0, { { NULL, NULL } } },
	{ "token-twice", "one token is granted a name twice", 50, ABLATE_TOKENS,
	    0, 0,
	    { { "op.claim =|if owner == token and stored then",
		"if stored and means(stored, client, \"x\") then" } } },
	{ "token-fence", "a token is granted a name without a new fence", 20,
	    ABLATE_TOKENS, 0, 0,
	    { { "op.claim =|local first = draw(1)", "local first = top" },
		{ "claim\" then|local first = math.max(top + 1, lowest)",
		    "local first = top" } } },
	{ "token-px", "the key of a token hold ends before its PX", 20,
	    ABLATE_TOKENS, 0, 0,
	    { { "claim\" then|\"PX\", ttl + ARGV[6],",
		  "\"PX\", math.ceil(tonumber(ttl) / 2)," },
		{ "local function hold|\"PX\", ttl + pad_ms)",
		    "\"PX\", math.ceil(tonumber(ttl) / 2))" },
		{ "local function keep_hold|\"PX\", ttl + pad_ms)",
		    "\"PX\", math.ceil(tonumber(ttl) / 2))" } } },
	{ "token-pad", "the key of a token hold has no pad", 1000,
	    ABLATE_TOKENS, FAULT_CLOCK, 0,
	    { { "claim\" then|\"PX\", ttl + ARGV[6],", "\"PX\", ttl," },
		{ "local function hold|\"PX\", ttl + pad_ms)", "\"PX\", ttl)" },
		{ "local function keep_hold|\"PX\", ttl + pad_ms)",
		    "\"PX\", ttl)" } } },
	{ "token-longer", "an extension does not move the end", 100,
	    ABLATE_TOKENS, 0, 0,
	    { { "op.token =|keep_hold(key, seq, fence, asked, ttl)", "" },
		{ "local function extend|string.format(whole, ms), client)",
		    "string.format(whole, rest), client)" } } },
	{ "token-retain", "a forgotten token hold is not written again", 200,
	    ABLATE_TOKENS, DATA_LOSS, 0,
	    { { "op.retain =|if blessed or", "if true or" } } },
	{ "token-end", "what ends a lease ends a token hold, too", 200,
	    ABLATE_TOKENS, FAULT_MESSAGE | FAULT_DELAY, 0,
	    { { "op[\"end\"] =|and (not string.find(value, \"|\", #token + "
		"2, true)",
		"and (true" } } },
	{ "token-queue", "a token passes those who wait for the name", 1000,
	    ABLATE_TOKENS, 0, 0,
	    { { "claim\" then|blessed and redis.pcall(\"EXISTS\", KEYS[k + "
		"1]) == 0",
		  "blessed" },
		{ "op.token =|fence and redis.call(\"EXISTS\", queue) == 0",
		    "fence" } } },
	{ "token-heir", "a release hands on a name that others wait for", 500,
	    ABLATE_TOKENS, 0, 0,
	    { { "op.pass =|if not fence or waiting[2] or waiting[1] and "
		"waiting[1] ~= me .. \".\" .. place then",
		"if not fence then" } } },
	{ "token-place", "a token that comes back has no place", 400,
	    ABLATE_PLACE, 0, 0, { { NULL, NULL } } },
	{ "token-kept", "who was told that a name is free does not get it", 100,
	    ABLATE_TOKENS, 0, 0,
	    { { "local function means|return token == wanted",
		"return token == wanted and token ~= \"%\"" } } },
	{ "token-late", "a token hold counts from the reply", 100, ABLATE_LATE,
	    FAULT_DELAY | FAULT_PAUSE, 0, { { NULL, NULL } } },
	{ "token-adopt", "nobody takes up the holds of a broker that died",
	    1000, ABLATE_TOKENS, FAULT_CRASH | FAULT_FLUSH, 0,
	    { { "op.adopt =|lines[#lines + 1] = adopt(key, tonumber(seq) + "
		"#lines, n, client)",
		"" } } },
	{ "token-stop", "a broker that stops ends its token holds", 50,
	    ABLATE_STOP, FAULT_STOP, 0, { { NULL, NULL } } },
	{ "leave-instance",
	    "a process that takes over has the old one's number", 100,
	    ABLATE_TWIN, 0, 0, { { NULL, NULL } } },
	{ "leave-ask", "a process that takes over does not ask who leaves", 20,
	    ABLATE_ASK, 0, USE_SESSION, { { NULL, NULL } } },
	{ "leave-stay", "a process that accepts again still leaves", 50,
	    ABLATE_STAY, FAULT_HEIR, 0, { { NULL, NULL } } },
	{ "leave-window", "a window that is handed on ends with that", 500,
	    ABLATE_LEAVES, 0, USE_KEEPS,
	    { { "op.disown =|hold(key, token, n, ttl, nobody)",
		"hold(key, token, n, 1, nobody)" } } },
	{ "embedded/aside", "a server whose file was set aside counts as new",
	    50, ABLATE_ASIDE, FAULT_ASIDE | FAULT_CRASH, 0,
	    { { NULL, NULL } } },
	{ "embedded/spoil", "any counter of fences is believed", 10,
	    ABLATE_SCRIPT, FAULT_SPOIL, 0,
	    { { "if not top or top >= 2 ^ 52 and top - seen >= 2 ^ 32 then",
		"if not top then" } } },
	{ "quorum/few", "fewer than a majority will do", 20, ABLATE_FEW, 0, 0,
	    { { NULL, NULL } } },
	{ "quorum/guard", "a server that has lost its data votes at once", 200,
	    ABLATE_SCRIPT, DATA_LOSS, 0,
	    { { "local blessed = g[1] == replid", "local blessed = true" },
		{ "blessed, pend = false, false", "" } } },
	{ "quorum/grace", "it is blessed at once", 400, ABLATE_SCRIPT,
	    DATA_LOSS, 0,
	    { { "local blessed = g[1] == replid",
		"redis.call('HSET', guard, 'id', replid, 'at', now_ms) "
		"local blessed = true" } } },
	{ "quorum/stall",
	    "a server votes that was frozen or whose clock jumped", 1500,
	    ABLATE_SCRIPT, FAULT_CLOCK | FAULT_PAUSE, 0,
	    { { "if (blessed or pend) and now_ms - at > stall_ms",
		"if false" } } },
	{ "quorum/raise", "no hints for fences, and none is written back", 50,
	    ABLATE_SCRIPT, 0, 0,
	    { { "op.raise =|raise(tonumber(n))", "" },
		{ "op.raise =|write(key, token, tonumber(n), ttl)", "" },
		{ "local lowest =|quorum and 0 or now_us, seen + 1", "0" } } },
	{ "quorum/counter", "fences are counted, also by who comes back empty",
	    200, ABLATE_SCRIPT, DATA_LOSS, 0,
	    { { "op.bless =|raise(seen)", "" },
		{ "local lowest =|quorum and 0 or now_us, seen + 1", "0" } } },
	{ "quorum/node", "it does not look whom a broker takes it for", 500,
	    ABLATE_SCRIPT, FAULT_REPLACE | FAULT_PARTITION, 0,
	    { { "if quorum and string.sub(ARGV[11], 2) ~= node .. \" \" .. set "
		"then",
		"if false then" } } },
	{ "quorum/voters", "it looks for that, but not who else votes", 500,
	    ABLATE_SCRIPT, FAULT_REPLACE | FAULT_PARTITION, 0,
	    { { "if quorum and string.sub(ARGV[11], 2) ~= node .. \" \" .. set "
		"then",
		  "if quorum and string.sub(ARGV[11], 2, 17) ~= node then" },
		{ "quiet = (idle or math.abs(now_ms - at) > tonumber(ARGV[8])) "
		  "and 1 or 0",
		    "quiet = 1" } } },
	{ "quorum/spoil", "any counter of fences is believed", 10,
	    ABLATE_SCRIPT, FAULT_SPOIL, 0,
	    { { "if not top or top >= 2 ^ 52 and top - seen >= 2 ^ 32 then",
		"if not top then" } } },
	{ "sentinel/guard", "every master may grant, whatever its history", 400,
	    ABLATE_SCRIPT, FAULT_PAUSE | FAULT_RESTART, 0,
	    { { "local blessed = g[1] == replid", "local blessed = true" },
		{ "blessed, pend = false, false", "" } } },
	{ "sentinel/grace", "a new master is blessed at once", 300,
	    ABLATE_SCRIPT, FAULT_PAUSE | FAULT_RESTART, 0,
	    { { "local blessed = g[1] == replid",
		"redis.call('HSET', guard, 'id', replid, 'at', now_ms) "
		"local blessed = true" } } },
	{ "sentinel/nonce", "an epoch is known by its history alone", 1500,
	    ABLATE_SCRIPT, FAULT_FLUSH | FAULT_FAILOVER, 0,
	    { { "pend = replid .. \":\" .. nonce",
		"pend = replid .. \":0\"" } } },
	{ "sentinel/stall", "a master whose clock jumped goes on", 3000,
	    ABLATE_SCRIPT, FAULT_CLOCK | FAULT_FREEZE, 0,
	    { { "if (blessed or pend) and now_ms - at > stall_ms",
		"if false" } } },
	{ "sentinel/fences", "fences are counted, without clock and memory",
	    2000, ABLATE_SCRIPT, FAULT_PAUSE | FAULT_RESTART, 0,
	    { { "local lowest =|quorum and 0 or now_us, seen + 1", "0" },
		{ "if not quorum and seen > top then", "if false then" } } },
	{ "sentinel/wait", "one replica need not confirm", 500, ABLATE_WAIT,
	    FAULT_PARTITION, 0, { { NULL, NULL } } },
	{ "sentinel/spoil", "any counter of fences is believed", 10,
	    ABLATE_SCRIPT, FAULT_SPOIL, 0,
	    { { "if not top or top >= 2 ^ 52 and top - seen >= 2 ^ 32 then",
		"if not top then" } } },
	{ "replicated/leave", "a broker goes on with two servers at once", 2000,
	    ABLATE_LEAVE, FAULT_FAILOVER | FAULT_CUT | FAULT_PARTITION, 0,
	    { { NULL, NULL } } },
	{ "cluster/guard", "every server may grant, whatever its history", 50,
	    ABLATE_SCRIPT, FAULT_MOVE | FAULT_FLUSH, 0,
	    { { "local blessed = g[1] == replid", "local blessed = true" },
		{ "blessed, pend = false, false", "" } } },
	{ "cluster/fence-clock", "fences are counted, without clock and memory",
	    400, ABLATE_SCRIPT, FAULT_MOVE | FAULT_FLUSH, 0,
	    { { "local lowest =|quorum and 0 or now_us, seen + 1", "0" },
		{ "if not quorum and seen > top then", "if false then" } } },
	{ "cluster/spoil", "any counter of fences is believed", 10,
	    ABLATE_SCRIPT, FAULT_SPOIL, 0,
	    { { "if not top or top >= 2 ^ 52 and top - seen >= 2 ^ 32 then",
		"if not top then" } } },
	{ "cluster/takeover",
	    "a replica that took over may grant, whatever it lacks", 200,
	    ABLATE_SCRIPT, FAULT_PAUSE | FAULT_LAG, 0,
	    { { "local blessed = g[1] == replid", "local blessed = true" },
		{ "blessed, pend = false, false", "" } } },
	{ "cluster/wait", "one replica need not confirm", 6000, ABLATE_WAIT,
	    FAULT_PAUSE | FAULT_LAG | FAULT_FAILOVER | FAULT_PARTITION, 0,
	    { { NULL, NULL } } },
	{ NULL, NULL, 0, ABLATE_SCRIPT, 0, 0, { { NULL, NULL } } },
};

const struct ablation ablation_earlier = {
	.name = "earlier",
	.edits = { { "local function sem_load|\"^([pqs]):(.*)$\"",
		       "\"^([pq]):(.*)$\"" },
	    { "local function sem_slots|local new, list",
		"do return end local new, list" } },
};

const struct ablation *
ablation_find(const char *name)
{
	const struct ablation *a;

	for (a = ablations; a->name != NULL; a++)
		if (strcmp(a->name, name) == 0)
			return a;
	return NULL;
}

const struct topology *
ablation_topology(const struct ablation *a)
{
	const char *slash = strchr(a->name, '/');
	const struct topology *t;
	char *word;

	if (slash == NULL)
		return &topologies[0];
	word = xstrndup(a->name, (size_t)(slash - a->name));
	t = topology_find(word);
	free(word);
	return t;
}

bool
ablation_of_tokens(const struct ablation *a)
{
	return a != NULL && a->off >= ABLATE_TOKENS;
}

bool
ablation_of_warmth(const struct ablation *a)
{
	return a != NULL &&
	       (a->off == ABLATE_WARM || a->off == ABLATE_WARM_TOKENS);
}

/*
 * Finds a text in another, whatever the white space between its words, and
 * stores its end in *end. "HEAD|WHAT" finds WHAT after HEAD, in the same
 * function.
 */
static const char *
find(const char *text, const char *what, const char **end)
{
	const char *bar = strchr(what, '|'), *p, *q, *limit = NULL;
	char *head;

	if (bar != NULL) {
		head = xstrndup(what, (size_t)(bar - what));
		text = strstr(text, head);
		free(head);
		what = bar + 1;
		limit = text != NULL ? strstr(text, "\nend") : NULL;
	}
	for (; text != limit && text != NULL && *text != '\0'; text++) {
		for (p = text, q = what; *q != '\0'; q++) {
			if (*q == ' ') {
				p += strspn(p, " \t\n");
				continue;
			}
			if (*p != *q)
				break;
			p++;
		}
		*end = p;
		if (*q == '\0')
			return text;
	}
	return NULL;
}

static char *
replace(char *text, const char *from, const char *to)
{
	const char *end, *at = find(text, from, &end);
	size_t head, n = strlen(to);
	char *result;

	if (at == NULL)
		return text;
	head = (size_t)(at - text);
	result = xmalloc(head + n + strlen(end) + 1);
	memcpy(result, text, head);
	memcpy(result + head, to, n);
	strcpy(result + head + n, end);
	free(text);
	return result;
}

char *
ablation_edit(const struct ablation *a, const char *source)
{
	char *text = xstrdup(source);
	int i;

	for (i = 0; i < ABLATION_EDITS_MAX && a != NULL; i++)
		if (a->edits[i].from != NULL)
			text = replace(text, a->edits[i].from, a->edits[i].to);
	return text;
}

bool
ablation_fits(const struct ablation *a, const char *keep, const char *acquire)
{
	const char *end;
	int i;

	for (i = 0; i < ABLATION_EDITS_MAX; i++)
		if (a->edits[i].from != NULL &&
		    find(keep, a->edits[i].from, &end) == NULL &&
		    find(acquire, a->edits[i].from, &end) == NULL)
			return false;
	return true;
}
