-- The guard: may this server, with its present history, grant anything?
-- Included first by every script (ARCHITECTURE, "The guard").
--
-- KEYS[1] is the guard, a hash:
--   id    master_replid of the history that is blessed
--   at    server time (ms) of the latest call of any broker
--   pend  the present unblessed spell: replid:nonce
--   cfg   settings that all brokers must share; grace: their G (ms)
--   new   set until the first bless of a server never used before
--   idle  replid under which the last broker left, holding nothing
--   n     how often it was blessed
--   b:X   when broker X called last
--   a:X   where people reach broker X
-- KEYS[2] is the highest fence given out or reserved.

local guard, fence = KEYS[1], KEYS[2]
local nonce, seen, cfg, me = ARGV[1], tonumber(ARGV[2]), ARGV[3], ARGV[4]
local lease_ms, pad_ms = tonumber(ARGV[5]), tonumber(ARGV[6])
local stall_ms, grace_ms = tonumber(ARGV[7]), tonumber(ARGV[8])
local prefix, cut = ARGV[9], tonumber(ARGV[10])
local quorum = ARGV[11] == "q" -- one of several independent servers

local info = redis.call("INFO", "replication")
if not string.find(info, "role:master", 1, true) then
	return { { "readonly", "" } }
end
local _, before = string.find(info, "master_replid:", 1, true)
local replid = string.sub(info, before + 1, before + 40)
local history = string.sub(replid, 1, 16)

local clock = redis.call("TIME")
local now_us = clock[1] * 1000000 + clock[2]
if now_us >= 9007199254740992 then
	return { { "clock", clock[1] } }
end
local now_ms = math.floor(now_us / 1000)

local top = tonumber(redis.call("GET", fence) or "0") or 0

local g = redis.call("HMGET", guard, "id", "at", "pend", "cfg", "idle",
	"new", "grace", "b:" .. me)
local at, pend, idle = tonumber(g[2] or "0"), g[3], g[5]
local blessed = g[1] == replid

if g[4] ~= cfg then
	local quiet_ms = math.max(grace_ms, tonumber(g[7] or "0"))
	if g[4] and not idle and math.abs(now_ms - at) <= quiet_ms then
		return { { "config", g[4], 0, top } }
	end
	-- Nobody is left who goes by the other settings, or nobody ever was.
	if g[4] then
		redis.call("HDEL", guard, "id", "pend", "idle")
		blessed, pend, idle = false, false, false
	elseif not g[1] then
		redis.call("HSET", guard, "new", 1)
		g[6] = "1"
	end
	redis.call("HSET", guard, "cfg", cfg, "grace", grace_ms)
end

-- A server that nobody reached for so long was frozen, or its clock jumped:
-- what was granted, or written again in a spell, may have run out unseen.  An
-- idle mark says that nothing was held; it replaces this check only.
if (blessed or pend) and now_ms - at > stall_ms and idle ~= replid then
	redis.call("HDEL", guard, "id", "pend")
	blessed, pend = false, false
end
if idle then
	redis.call("HDEL", guard, "idle")
end

if not blessed
	and (not pend or string.sub(pend, 1, #replid + 1) ~= replid .. ":") then
	pend = replid .. ":" .. nonce
	redis.call("HSET", guard, "pend", pend)
	-- A bucket of a cluster may come back to a history that it has left.
	redis.call("HDEL", guard, "id")
end
-- Often enough that a heartbeat in between is not missed.
if math.abs(now_ms - at) >= math.min(250, stall_ms / 6) then
	redis.call("HSET", guard, "at", now_ms)
end
if math.abs(now_ms - tonumber(g[8] or "0")) >= lease_ms / 3 then
	redis.call("HSET", guard, "b:" .. me, now_ms)
end

-- Fences.  The counter makes them strict; the clock and what the brokers have
-- seen keep them rising where the counter was lost.  The counter is written
-- once, at the end of the call (run.lua).
local stored_top = top

local function raise(n)
	if n > top then
		top = n
	end
end

-- The first of n fences nobody else gets.  In a quorum the broker's hint, in
-- `seen`, stands for the clock, so that the servers agree on it.
local function draw(n)
	local first = math.max(top + 1, quorum and 0 or now_us, seen + 1)
	raise(first + n - 1)
	return first
end

if not quorum then
	raise(seen)
end

-- The answers, behind what is said of the guard.
local out = { false }

-- An operation by itself: one that fails says so in its own place and leaves
-- the others alone.
local function attempt(...)
	local ok, result = pcall(...)
	if not ok then
		result = { "refused", 0, 0, 0,
			type(result) == "table" and result.err or tostring(result) }
	end
	return result
end

-- The operations, by their words.  Those that nearly all calls consist of, in
-- rows, are here at once.  The rest is made when need() is asked for it: to
-- make functions takes longer than to run such a call.
local op, need = {}, nil

-- A row of operations has one word, what they have in common, and a number for
-- each of them, its seq.  Returns how many there are, and the keys of which
-- each has three: of its name, of the queue, and of those who share.
local function row(k, a)
	local keys, queues, n = {}, {}, 0
	while tonumber(ARGV[a + n]) do
		n = n + 1
		keys[n], queues[n] = KEYS[k], KEYS[k + 1]
		k = k + 3
	end
	return n, keys, queues
end
