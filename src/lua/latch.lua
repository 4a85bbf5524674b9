-- Latches: a count that only falls, shared by all brokers, owned by none.
--
-- KEYS[k] is one hash:
--   count, ttl  what is left; how long it outlives its last use (ms)
--   made        BROKER.SEQ of the operation that made it
--   s:BROKER    "SEQ BEFORE AT": the latest count-down of a broker, the count
--               before it, and when it came; so that a count-down whose reply
--               was lost is not counted twice
--   a:BROKER    until when to tell a broker that the count is 0

local LATCH_MEMORY = 32 -- brokers whose latest count-down is remembered

-- Notes a use: the latch lives for its ttl from now, and if a broker waits, at
-- least until that broker looks again.
local function latch_touch(key, ttl, waited)
	local least = waited and 2 * (lease_ms + pad_ms) or 0
	redis.call("PEXPIRE", key, int(math.max(tonumber(ttl), least)))
end

op.latch = { keys = 1, args = 3, run = function(key, _, _, seq, count, ttl)
	if not blessed then
		return { "pending" }
	end
	local made = redis.call("HGET", key, "made")
	if made and made ~= me .. "." .. seq then
		return { "exists" }
	end
	if not made then
		redis.call("HSET", key, "count", count, "ttl", ttl,
			"made", me .. "." .. seq)
	end
	latch_touch(key, ttl)
	return { "made", 0, 0, 0, "", tonumber(count) }
end }

-- Tells the waiting brokers if the latch is open, and forgets dead brokers.
-- Returns whether any still waits.
local function latch_tell(key, open)
	local all, waited, known = redis.call("HGETALL", key), false, 0
	for i = 1, #all, 2 do
		local kind, who = string.match(all[i], "^([as]):(.*)$")
		if kind == "a" and (open or tonumber(all[i + 1]) <= now_ms) then
			redis.call("HDEL", key, all[i])
			if open then
				hint(who, "open", key)
			end
		elseif kind == "a" then
			waited = true
		elseif kind == "s" then
			known = known + 1
			local at = tonumber(string.match(all[i + 1], "(%d+)$"))
			if known > LATCH_MEMORY
				and now_ms - at > 10 * (lease_ms + pad_ms) then
				redis.call("HDEL", key, all[i])
			end
		end
	end
	return waited
end

op.countdown = { keys = 1, args = 2, run = function(key, _, _, seq, by)
	if not blessed then
		return { "pending" }
	end
	local g = redis.call("HMGET", key, "count", "ttl", "s:" .. me)
	if not g[1] then
		return { "gone" }
	end
	local last, was = string.match(g[3] or "", "^(%d+) (%d+)")
	local count, before = tonumber(g[1]), last == seq and tonumber(was)
	if not before then
		before = count
		count = math.max(count - tonumber(by), 0)
		redis.call("HSET", key, "count", int(count), "s:" .. me,
			seq .. " " .. int(before) .. " " .. int(now_ms))
	end
	latch_touch(key, g[2], latch_tell(key, count == 0))
	return { "counted", 0, 0, 0, "", before, count }
end }

-- Is the latch open?  If not, the broker will be told when it is.
op.await = { keys = 1, args = 0, run = function(key)
	if not blessed then
		return { "pending" }
	end
	local g = redis.call("HMGET", key, "count", "ttl")
	local count = tonumber(g[1] or nil)
	if not count then
		return { "gone" }
	end
	if count > 0 then
		redis.call("HSET", key, "a:" .. me,
			int(now_ms + 2 * (lease_ms + pad_ms)))
	end
	latch_touch(key, g[2], count > 0)
	return { count > 0 and "shut" or "open", 0, 0, 0, "", count }
end }
