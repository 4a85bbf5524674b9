-- The guard: may this server, with its present history, grant anything?
-- Included first by every script (core/kernel/guard/DESIGN).
--
-- KEYS[1] is the guard, a hash:
--   id    master_replid of the history that is blessed
--   at    server time (ms) of the latest call of any broker
--   pend  the present unblessed epoch: replid:nonce
--   epoch its nonce, also when it is blessed: phases of sharing have it, too
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
--   a:X   where users reach broker X
--   i:X   what broker X says about itself, as `VERSION LEASE_MS URL`
--   w:X   for how long broker X keeps a name warm at most (ms; 0: it does not)
--   old   set while a broker without that is there: then no name is kept warm
--   plain when a plain client was met last, to a minute; met: since when, and
--         the name, as `MS NAME` (met_plain() in define.lua)
--   node, set, places, open  in a quorum: the random id of this server; who
--         votes, as VERSION:ID,ID,...; where those servers were found
--         (core/parts/quorum/voters.c); and while the set is not settled, kN if this
--         server voted in the one before, of N servers, n if it is new there;
--         pN and o if it has also pledged to stay
-- KEYS[2] is the highest fence given out or reserved.

local guard, fence = KEYS[1], KEYS[2]
-- The nonce, followed by the history in which the guard has certainly noted
-- this broker.  ARGV[2] is the highest fence that the broker has seen; 6 and 8
-- to 10 are read where they are needed: numbers take long to read.
local nonce = string.sub(ARGV[1], 1, 16)
local cfg, me = ARGV[3], ARGV[4]
local lease_ms, stall_ms = tonumber(ARGV[5]), tonumber(ARGV[7])
-- In a quorum of several independent servers: q, then the id that the broker
-- expects here and the set that it goes by, `ID SET`.  Of a server that its
-- only broker has just started: w if it has all that was ever written to it, n
-- if nothing ever was.
local quorum = string.byte(ARGV[11]) == 113

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
local now_ms = (now_us - now_us % 1000) / 1000

-- With one broker nearly all fences are fences that it has seen.  A fence that
-- it has not seen may be anything: any client can write the key.  A counter
-- that no broker can have written is overwritten by the greater of what the
-- broker has seen and the clock.  A counter that may be true is believed,
-- however far ahead of the clock it is, or fences would fall (`checked()` in
-- define.lua).
local stored = redis.call("GET", fence) or "0"
local seen, top, stored_top, spoilt = tonumber(ARGV[2]), nil, nil, nil
if ARGV[2] == stored then
	top = seen
else
	top = tonumber(string.match(stored, "^%d+$"))
end
stored_top = top
if not top or top >= 2 ^ 52 and top - seen >= 2 ^ 32 then
	spoilt = fence .. " " .. string.sub(stored, 1, 32)
	top, stored_top = quorum and seen or math.max(seen, now_us), -1
end

local g = redis.call("HMGET", guard, "id", "at", "cfg", "idle", "b:" .. me,
	"plain")
local at, idle = tonumber(string.match(g[2] or "", "^%d+$")) or 0, g[4]
local beat, notes = g[5], string.match(g[6] or "", "^%d+$")
if notes and #notes > 13 then
	notes = nil
end
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
	local before_ms = tonumber(redis.call("HGET", guard, "grace") or "0")
	local quiet_ms = math.max(tonumber(ARGV[8]), before_ms or 0)
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
	redis.call("HSET", guard, "cfg", cfg, "grace", ARGV[8])
end

-- Who votes in a quorum.  A server does not vote for a broker that goes by
-- another set or expects another server here; a server that has lost its data
-- has lost its id, too.  `enlist` moves it to another set
-- (core/parts/quorum/voters.c).
local node, set, open, quiet
if quorum then
	local v = redis.call("HMGET", guard, "node", "set", "open")
	node, set, open = v[1] or nonce, v[2] or "", v[3] or ""
	quiet = (idle or math.abs(now_ms - at) > tonumber(ARGV[8])) and 1 or 0
	-- How: m moves it, and u does unless it is pledged.
	local id, to, from, how, places
	if ARGV[12] == "enlist" then
		id, to, from, how, places = string.match(ARGV[13],
			"^(%x+) (%S+) (%S*) ([mupsf]) (%x*)$")
	end
	local free = set == "" or string.find(open, "^[kn]")
	if id == node and from == set and to ~= set
		and (how == "m" or how == "u" and free) then
		-- Only a settled set has a set that follows it.
		local was, is = tonumber(string.match(set, "^%d+") or "-1"),
			tonumber(string.match(to, "^%d+"))
		local _, commas = string.gsub(set, ",", "")
		local before = string.match(open, "^[kp](%d*)$")
		if was == is and before then
			open = "k" .. before
		elseif was + 1 == is and set ~= "" and open == "" then
			open = "k" .. commas + 1
		else
			open = "n"
		end
		set = to
		redis.call("HSET", guard, "set", set, "open", open,
			"places", places)
		if open == "n" then
			redis.call("HDEL", guard, "id", "pend", "idle")
			blessed, pend, idle = false, false, false
		end
	elseif id == node and to == set and how == "p"
		and string.find(open, "^[kn]") then
		open = string.gsub(string.gsub(open, "k", "p"), "n", "o")
		redis.call("HSET", guard, "open", open)
	elseif id == node and to == set and how == "s" and open ~= "" then
		-- The set is settled: the grace period may begin.
		redis.call("HDEL", guard, "open")
		if open == "n" or open == "o" then
			redis.call("HDEL", guard, "pend")
			pend = false
		end
		open = ""
	elseif id == node and from == set and how == "f" then
		-- Its data went back to a time before it was replaced.
		redis.call("HDEL", guard, "set", "open", "id", "pend", "idle")
		v[1], node, set, open = nil, nonce, "", ""
		blessed, pend, idle = false, false, false
	end
	if not v[1] then
		redis.call("HSET", guard, "node", node)
	end
end

local not_agreed
if quorum then
	function not_agreed()
		return { { "nodes", redis.call("HGET", guard, "places") or "",
			set == "" and 1 or 0, top, now_ms, history, node, set,
			open, quiet } }
	end
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
if open == "n" or open == "o" then
	return not_agreed()
end

if not blessed
	and (not pend or #pend > 95
		or not string.find(pend, "^" .. replid .. ":%w+$")) then
	pend = replid .. ":" .. nonce
	redis.call("HSET", guard, "pend", pend, "epoch", nonce)
	-- A bucket of a cluster may return to the history that was blessed, and
	-- must not count as blessed then.
	redis.call("HDEL", guard, "id")
end
-- Not in every call, but often enough that no heartbeat is missed.
local quiet_ms = math.abs(now_ms - at)
if quiet_ms >= 250 or quiet_ms >= stall_ms / 6 then
	redis.call("HSET", guard, "at", now_ms)
end
if math.abs(now_ms - (tonumber(beat or "0") or 0)) >= lease_ms / 3 then
	redis.call("HSET", guard, "b:" .. me, now_ms)
end

-- Fences.  The counter makes each higher than the last; the clock and what the
-- brokers have seen keep them rising even if the counter was lost.  In a quorum
-- the broker's hint, `seen`, replaces the clock, so that the servers agree.
-- answer.lua writes the counter once, at the end of the call.  Draws of more than
-- one end at `ahead`: once all is lost, fences begin again at the clock.
local lowest = math.max(quorum and 0 or now_us, seen + 1)
local ahead = now_us + 4096

if not quorum and seen > top then
	top = seen
end

-- The format of a fence.  %d takes a quarter of the time, but can only be used
-- if it has 64 bits.
local whole = string.format("%d", 4294967296) == "4294967296"
	and "%d" or "%.0f"

-- The answer to the call: the report of the guard, then one of each operation.
local out = { false }

-- Where keys and arguments of the next operation begin.  Nearly all calls
-- consist of rows of one operation that finds its names as usual.  What a
-- script does with them stands in its loop, since making functions takes longer
-- than running such a call.  A row has one word, the arguments that its names
-- have in common, and a number for each, its seq; a name has three keys: its
-- own, its queue's, and its sharers'.
local k, a, words = 3, 12, #ARGV

-- Everything else is an operation of the table `op`.  Its functions are made
-- when there is such an operation.  A row leaves in `odd` the part that it
-- could not do: the place of the answer, the word of the operation that can do
-- it, and its arguments.
local op, need, attempt
