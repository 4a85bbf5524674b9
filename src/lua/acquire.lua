#!lua
-- Takes names that are free, and queues up for names that are not.
-- It creates keys, so it does not run when memory is full.

-- include guard.lua
-- include lease.lua

-- Behind another's key: get into the queue, once, and tell the broker that
-- has the name when it is the first that waits.
local function queue_up(key, queue, token, owner)
	if not redis.call("LPOS", queue, token)
		and redis.call("RPUSH", queue, token) == 1 and owner then
		tell(owner, "waits", key)
	end
	redis.call("PEXPIRE", queue, 2 * (lease_ms + pad_ms))
end

-- Idempotent for one token: where the key holds it already, the earlier reply
-- was lost or another broker has handed the name over.  It writes all the
-- same, so that a WAIT behind it means something.  A free name goes to the
-- head of the queue, whoever called.
op.acquire = { keys = 2, args = 4, run = function(key, queue, seq, ttl, n, how)
	if not blessed then
		return { "pending" }
	end
	local token = me .. "." .. seq
	local value = redis.call("GET", key)
	local owner = parse(value)
	if not value then
		owner = pass_on(key, queue, token) or token
	end
	if owner == token then
		local first = draw(tonumber(n))
		write(key, token, first, ttl)
		return { "granted", first, 0, redis.call("EXISTS", queue) }
	end
	if how == "q" then
		queue_up(key, queue, token, owner)
	end
	if not owner then
		return { "foreign", 0, redis.call("PTTL", key),
			redis.call("LINDEX", queue, 0) ~= token and 1 or 0 }
	end
	return { how == "q" and "queued" or "busy", 0, redis.call("PTTL", key) }
end }

-- include run.lua
