#!lua flags=allow-oom
-- Keeps, ends and looks: what must work when memory is full, or every lock
-- would die of it.

-- include guard.lua
-- include lease.lua

-- Keeps a lease.  Matched by the token alone, so that a renewal that drew
-- fences and whose reply was lost does no harm.  On a server that is not
-- blessed it re-asserts: what is absent, or of our form with a lower fence, is
-- older than what the broker vouches for.
op.renew = { keys = 2, args = 4, run = function(key, queue, seq, ttl, held, n)
	local token = me .. "." .. seq
	local owner, stored = parse(redis.call("GET", key))
	held, n = tonumber(held), tonumber(n)
	if owner ~= token then
		if blessed or redis.call("EXISTS", key) == 1
			and (not owner or stored >= held) then
			return { "lost" }
		end
		raise(held)
		owner, stored = token, held
		write(key, token, held, ttl)
	elseif n == 0 then
		redis.call("PEXPIRE", key, ttl)
	end
	local first = 0
	if n > 0 then
		first = draw(n)
		write(key, token, first, ttl)
	end
	return { "renewed", first, 0, redis.call("EXISTS", queue) }
end }

-- The heir of a handover takes the lease up: only where the key holds exactly
-- its token.  It never re-asserts.
op.confirm = { keys = 2, args = 3, run = function(key, queue, seq, ttl, n)
	if not blessed then
		return { "pending" }
	end
	local token = me .. "." .. seq
	if parse(redis.call("GET", key)) ~= token then
		return { "lost" }
	end
	local first = draw(tonumber(n))
	write(key, token, first, ttl)
	return { "granted", first, 0, redis.call("EXISTS", queue) }
end }

-- Ends a lease or a place in the queue, whichever this token has.  With a
-- linger the key stays as a tombstone for so long.  On a server that is not
-- blessed nothing is handed over.
op["end"] = { keys = 2, args = 2, run = function(key, queue, seq, linger)
	local token = me .. "." .. seq
	local value = redis.call("GET", key)
	local mine = parse(value) == token
	redis.call("LREM", queue, 0, token)
	if mine and tonumber(linger) > 0 then
		redis.call("PEXPIRE", key, linger)
	elseif blessed and (mine or not value) then
		pass_on(key, queue)
	elseif mine then
		redis.call("DEL", key)
	end
	return { mine and "ended" or "gone" }
end }

-- Only looks.
op.status = { keys = 2, args = 0, run = function(key, queue)
	return { "value", 0, redis.call("PTTL", key),
		redis.call("EXISTS", queue), redis.call("GET", key) or "" }
end }

-- Being called is the heartbeat; here the brokers that have died without
-- signing off are forgotten.
op.heartbeat = { args = 0, run = function()
	if redis.call("HLEN", guard) > 24 then
		local all = redis.call("HGETALL", guard)
		for i = 1, #all, 2 do
			if string.sub(all[i], 1, 2) == "b:" and math.abs(now_ms
				- tonumber(all[i + 1])) > 10 * (lease_ms + pad_ms) then
				redis.call("HDEL", guard, all[i])
			end
		end
	end
	return { "done" }
end }

-- Ends an unblessed spell, if it is still the one that the broker has waited
-- through.
op.bless = { args = 1, run = function(_, _, spell)
	if not blessed and spell == pend then
		redis.call("HSET", guard, "id", replid, "at", now_ms)
		redis.call("HDEL", guard, "pend", "new")
		redis.call("HINCRBY", guard, "n", 1)
		blessed, pend = true, false
	end
	return { "done" }
end }

-- Signs a broker off.  Where no other can hold anything, the guard is marked
-- idle, so that the next start need not wait.
op.idle = { args = 0, run = function()
	redis.call("HDEL", guard, "b:" .. me)
	local all = redis.call("HGETALL", guard)
	for i = 1, #all, 2 do
		if string.sub(all[i], 1, 2) == "b:" and math.abs(now_ms
			- tonumber(all[i + 1])) <= lease_ms + pad_ms then
			return { "done" }
		end
	end
	if blessed then
		redis.call("HSET", guard, "idle", replid)
	end
	return { "done" }
end }

-- include run.lua
