-- The end of a lease or of a place in the queue.  Both scripts include it after
-- lease.lua.

-- Ends a share of a name.  The last sharer passes the name on, even if its
-- share has just run out: no other would, because the share of a sharer that
-- left with a tombstone may outlast all others.
local function end_share(key, queue, shared, token, linger)
	local n = #sharers(shared) -- without those that have run out
	local had = redis.call("ZSCORE", shared, token)
	if had and tonumber(linger) > 0 then
		if n > 1 then
			share(key, shared, token, linger)
		else -- the tombstone lets nobody in, not even to share
			redis.call("DEL", shared)
			write(key, token, phase(redis.call("GET", key)), linger)
		end
		return { "ended" }
	end
	redis.call("ZREM", shared, token)
	if #sharers(shared) == 0
		and not (blessed and pass_on(key, queue, shared)) then
		redis.call("DEL", key, shared)
	end
	return { had and "ended" or "gone" }
end

-- In a quorum the queue lists the brokers that must be told that the name is
-- free, and who had it.  They are told even if its key has just run out.
local function end_in_quorum(key, queue, claim, token, value, linger)
	if redis.call("GET", claim) == token then
		redis.call("DEL", claim)
	end
	if value and parse(value) ~= token then
		return { "gone" }
	end
	if value and tonumber(linger) > 0 then
		redis.call("PEXPIRE", key, linger)
		return { "ended" }
	end
	redis.call("DEL", key)
	for _, waiting in ipairs(redis.call("LRANGE", queue, 0, -1)) do
		tell(waiting, "free", key, token .. " ")
	end
	redis.call("DEL", queue)
	return { value and "ended" or "gone" }
end

-- Ends a lease or a place in the queue, whichever this token has.  With a
-- linger the key stays as a tombstone for that long.  A server that is not
-- blessed hands nothing over.  If the name is passed on, the token with the
-- seq `again` (0: none) gets in line.
op["end"] = { keys = 3, args = 3,
run = function(key, queue, shared, seq, linger, again)
	local token = me .. "." .. seq
	local value = redis.call("GET", key)
	if quorum then
		return end_in_quorum(key, queue, shared, token, value, linger)
	end
	-- Does the work of parse(), which takes longer.  A token hold does not
	-- count: it may have the token of a place in the queue, and a message
	-- about that place may be old.  A hold of nobody was a tombstone of
	-- ours, if the reply to `disown` was lost.
	if value and string.sub(value, 1, #token + 1) == token .. "|"
		and (not string.find(value, "|", #token + 2, true)
			or string.sub(value, -4) == "|%|%") then
		if tonumber(linger) > 0 then
			redis.call("PEXPIRE", key, linger)
		elseif not blessed
			or not pass_on(key, queue, shared, nil, again ~= "0") then
			redis.call("DEL", key)
		elseif again ~= "0" then
			redis.call("RPUSH", queue, me .. "." .. again)
			redis.call("PEXPIRE", queue, 2 * (lease_ms + pad_ms))
			return { "ended", 0, 2 * pad_ms, 1 }
		end
		return { "ended" }
	end
	leave(queue, token)
	if blessed and phase(value) then
		admit(key, queue, shared)
	elseif blessed and not value then
		pass_on(key, queue, shared)
	end
	if phase(value) then
		return end_share(key, queue, shared, token, linger)
	end
	return { "gone" }
end }
