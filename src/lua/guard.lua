-- The guard: may this server, with its present history, grant anything?
-- Included first by every script (core/guard/DESIGN).
--
-- KEYS[1] is the guard, a hash:
--   id    master_replid of the history that is blessed
--   at    server time (ms) of the latest call of any broker
--   pend  the present unblessed epoch: replid:nonce
--   epoch its nonce, also when it is blessed: what is shared has that, too
--   cfg   settings that all brokers must share; grace: their G (ms)
--   new   set until the first bless of a server never used before
--   idle  replid under which the last broker left, holding nothing
--   n     how often it was blessed
--   b:X   when broker X last called, or if it stays away, until when it does
--   watch the sentries: two brokers that call often for all that stay away,
--         and when they did, as `BROKER MS BROKER MS` (keep.lua)
--   swept when brokers that had died were looked for
--   left  when a broker last signed off that left holds behind
--   looked, pass, passed  when one last looked whether a broker has gone; who
--         goes through all keys for that, as `BROKER STARTED MS`, the time of
--         the last step; and when the last pass began that went through
--         (adopt.lua)
--   h:N   a process of broker N that was replaced and looks after token holds:
--         `X SEQ MS`; those up to its number SEQ are for its successor, which
--         goes through all keys for that, and MS is when it said so
--   a:X   where people reach broker X
--   i:X   what broker X says about itself, as `VERSION LEASE_MS URL`
--   w:X   for how long broker X keeps a name warm at most (ms; 0: it does not)
--   old   set while a broker without that is there: then no name is kept warm
--   node, set, places, open  in a quorum: the random id of this server; who
--         votes, as VERSION:ID,ID,...; where those servers were found
--         (core/guard/voters.c); and while the set is not agreed on yet, k if
--         this server voted in the set before, n if it did not
-- KEYS[2] is the highest fence given out or reserved.

local guard, fence = KEYS[1], KEYS[2]
-- The nonce, followed by the history in which the guard is known to have noted
-- this broker; the highest fence that the broker has seen.
local nonce, seen = string.sub(ARGV[1], 1, 16), tonumber(ARGV[2])
local cfg, me = ARGV[3], ARGV[4]
local lease_ms, pad_ms = tonumber(ARGV[5]), tonumber(ARGV[6])
local stall_ms, grace_ms = tonumber(ARGV[7]), tonumber(ARGV[8])
local prefix, cut = ARGV[9], tonumber(ARGV[10])
-- In a quorum of several independent servers: q, then the id that the broker
-- expects here and the set that it goes by, `ID SET`.  Of a server that its only
-- broker has just started: w if it has all that was ever written to it, n if
-- nothing ever was.
local quorum = string.sub(ARGV[11], 1, 1) == "q"

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

local g = redis.call("HMGET", guard, "id", "at", "cfg", "idle", "b:" .. me)
local at, idle, beat = tonumber(g[2] or "0"), g[4], g[5]
-- Nothing is missing, so the history goes on under another name: a guard that
-- was pending, without an id, still is.
local begun = ARGV[11]
if begun == "w" and g[1] and g[1] ~= replid or begun == "n" and not g[3] then
	if not g[1] then
		at = now_ms
		redis.call("HSET", guard, "at", at, "epoch", nonce)
	end
	if idle and idle == g[1] then
		idle = replid
	end
	redis.call("HSET", guard, "id", replid)
	g[1] = replid
end
local blessed = g[1] == replid
-- A history that is blessed has neither (`bless` in keep.lua).
local pend, new
if not blessed then
	local u = redis.call("HMGET", guard, "pend", "new")
	pend, new = u[1], u[2]
end

if g[3] ~= cfg then
	local before_ms = redis.call("HGET", guard, "grace") or "0"
	local quiet_ms = math.max(grace_ms, tonumber(before_ms))
	if g[3] and not idle and math.abs(now_ms - at) <= quiet_ms then
		return { { "config", g[3], 0, top } }
	end
	-- No broker with other settings is left, or there never was one.  An
	-- idle guard holds nothing that other settings could harm; but in a
	-- quorum brokers may have won votes without this server.
	if g[3] and (quorum or idle ~= replid) then
		redis.call("HDEL", guard, "id", "pend", "idle")
		blessed, pend, idle = false, false, false
	elseif not g[3] and not g[1] then
		redis.call("HSET", guard, "new", 1)
		new = "1"
	end
	redis.call("HSET", guard, "cfg", cfg, "grace", grace_ms)
end

-- Who votes in a quorum.  A server does not vote for a broker that goes by
-- another set or expects another server here; if it has lost its data, it has
-- lost its id, too.  `enlist` moves it to another set (core/guard/voters.c).
local node, set, open, quiet
if quorum then
	local v = redis.call("HMGET", guard, "node", "set", "open")
	node, set, open = v[1] or nonce, v[2] or "", v[3] or ""
	quiet = (idle or math.abs(now_ms - at) > grace_ms) and 1 or 0
	local id, to, from, settled, places
	if ARGV[12] == "enlist" then
		id, to, from, settled, places = string.match(ARGV[13],
			"^(%x+) (%S+) (%S*) ([msf]) (%x*)$")
	end
	if id == node and from == set and settled == "m" and to ~= set then
		open = (set == "" or open == "n") and "n" or "k"
		set = to
		redis.call("HSET", guard, "set", set, "open", open,
			"places", places)
		if open == "n" then
			redis.call("HDEL", guard, "id", "pend", "idle")
			blessed, pend, idle = false, false, false
		end
	elseif id == node and to == set and settled == "s" and open ~= "" then
		-- The set is agreed on: the grace period may begin.
		redis.call("HDEL", guard, "open")
		if open == "n" then
			redis.call("HDEL", guard, "pend")
			pend = false
		end
		open = ""
	elseif id == node and from == set and settled == "f" then
		-- Its data went back to a time before it was replaced.
		redis.call("HDEL", guard, "set", "open", "id", "pend", "idle")
		v[1], node, set, open = nil, nonce, "", ""
		blessed, pend, idle = false, false, false
	end
	if not v[1] then
		redis.call("HSET", guard, "node", node)
	end
end

local function not_agreed()
	return { { "nodes", redis.call("HGET", guard, "places") or "", set == "" and 1 or 0, top, now_ms, history,
		node, set, open, quiet } }
end

if quorum and string.sub(ARGV[11], 2) ~= node .. " " .. set then
	return not_agreed()
end

-- If nobody reached the server for a stall, it was frozen, or its clock jumped:
-- leases that were granted, or written again in this epoch, may have run out
-- unseen.  An idle mark says that nothing was held; it replaces only this one
-- check.
if (blessed or pend) and now_ms - at > stall_ms and idle ~= replid then
	redis.call("HDEL", guard, "id", "pend")
	blessed, pend = false, false
end
if idle then
	redis.call("HDEL", guard, "idle")
end
-- The guard noted this broker in this history and no longer knows it: the data
-- went back to an earlier time, and lost all that was granted since, although
-- the history goes on.
if not beat and (blessed or pend) and string.sub(ARGV[1], 17) == history then
	redis.call("HDEL", guard, "id", "pend")
	blessed, pend = false, false
end
if open == "n" then
	return not_agreed()
end

if not blessed
	and (not pend or string.sub(pend, 1, #replid + 1) ~= replid .. ":") then
	pend = replid .. ":" .. nonce
	redis.call("HSET", guard, "pend", pend, "epoch", nonce)
	-- A bucket of a cluster may return to the history that was blessed, and
	-- must not count as blessed then.
	redis.call("HDEL", guard, "id")
end
-- Not with every call, but often enough that no heartbeat is missed.
if math.abs(now_ms - at) >= math.min(250, stall_ms / 6) then
	redis.call("HSET", guard, "at", now_ms)
end
if math.abs(now_ms - tonumber(beat or "0")) >= lease_ms / 3 then
	redis.call("HSET", guard, "b:" .. me, now_ms)
end

-- Fences.  The counter makes each higher than the last; the clock and what the
-- brokers have seen keep them rising even if the counter was lost.  run.lua
-- writes the counter once, at the end of the call.
local stored_top = top

-- The format of a fence.  %d takes a quarter of the time, but can only be used
-- if it has 64 bits.
local whole = string.format("%d", 4294967296) == "4294967296"
	and "%d" or "%.0f"

local function raise(n)
	if n > top then
		top = n
	end
end

-- Draws n fences that nobody else gets, and returns the first.  In a quorum
-- the broker's hint, `seen`, replaces the clock, so that the servers agree.
local function draw(n)
	local first = math.max(top + 1, quorum and 0 or now_us, seen + 1)
	raise(first + n - 1)
	return first
end

if not quorum then
	raise(seen)
end

-- The answer to the call: the report of the guard, then one of each operation.
local out = { false }

-- Runs one operation, protected: if it fails, its own answer says so, and the
-- others are unaffected.
local function attempt(...)
	local ok, result = pcall(...)
	if not ok then
		result = { "refused", 0, 0, 0,
			type(result) == "table" and result.err or tostring(result) }
	end
	return result
end

-- The operations, by their words.  The rows, of which nearly all calls consist,
-- and the heartbeat are defined at once.  need() defines the rest on demand,
-- because making functions takes longer than running such a call.
local op, need = {}, nil

-- A row of operations has one word, the arguments that they have in common, and
-- a number for each, its seq.  Returns how many operations there are, the keys
-- of their names, and those of their queues.  Each operation has three keys:
-- its name, its queue, and its sharers.
local function row(k, a)
	local keys, queues, n = {}, {}, 0
	local all, argv, byte = KEYS, ARGV, string.byte
	local arg = argv[a]
	while arg and byte(arg) <= 57 do -- a digit
		n = n + 1
		keys[n], queues[n] = all[k], all[k + 1]
		k, arg = k + 3, argv[a + n]
	end
	return n, keys, queues
end
