#!lua
-- Takes names that are free, and queues up for names that are not.  The same
-- call may also end leases that were released meanwhile.  The script creates
-- keys, so it does not run when memory is full.

-- include guard.lua

-- include values.lua

while a <= words do
	local word, odd = ARGV[a], nil
	if word == "grab" then
-- include grab.lua
	elseif word == "drop" then
-- include drop.lua
	elseif word == "claim" then
-- include claim.lua
	else
		odd = true
	end
	if odd and not op then
-- include define.lua

-- Defines the operations on leases.
function define_leases()

-- include lease.lua

-- include end.lua

-- Puts a token into the queue, once, behind others or before them.  If the
-- queue was empty, tells the brokers that have the name.
local function queue_up(key, queue, text, holders, first)
	if first then
		redis.call("LREM", queue, 0, text)
	end
	if not redis.call("LPOS", queue, text)
		and redis.call(first and "LPUSH" or "RPUSH", queue, text) == 1
		then
		for _, token in ipairs(holders) do
			tell(token, "waits", key)
		end
	end
	redis.call("PEXPIRE", queue, 2 * (lease_ms + pad_ms))
end

-- Lets a token share a phase that goes on, if nobody waits or if the token
-- shares it already.  Returns the fence of the phase, or nil.
local function join(key, queue, shared, token, ttl)
	admit(key, queue, shared)
	if redis.call("EXISTS", queue) == 1
		and not redis.call("ZSCORE", shared, token) then
		return nil
	end
	local fence = joined(key)
	share(key, shared, token, ttl)
	return fence
end

-- Takes a name.  Idempotent for one token: if the key holds it already, the
-- earlier reply was lost or another broker has handed the name over.  Even then
-- the operation writes, so that a WAIT after it means something.  A free name
-- goes to the head of the queue, whichever token calls.
op.acquire = { keys = 3, args = 5,
run = function(key, queue, shared, seq, ttl, n, how, mode)
	if not blessed then
		return { "pending" }
	end
	local token, shares = me .. "." .. seq, mode == "s"
	local value = redis.call("GET", key)
	local owner, _, client = parse(value)
	local waiting = true
	local holders = phase(value) and sharers(shared) or {}
	local claim, ends = quorum and not value and redis.call("GET", shared), key
	if claim and claim ~= token then
		owner, ends = claim, shared -- the holder wants this server, too
	elseif quorum and not value then
		owner = token -- nothing is handed over: a majority decides
		redis.call("LREM", queue, 0, me .. ".0")
	elseif not value or phase(value) and #holders == 0 then
		local heir = pass_on(key, queue, shared, token)
		if heir and heir ~= token then
			value = redis.call("GET", key)
			owner, _, client = parse(value)
			holders = phase(value) and sharers(shared) or {}
		else
			owner, waiting = token, heir
		end
	end
	waiting = waiting and redis.call("EXISTS", queue) or 0
	if owner == token and not shares then
		local first, count = draw(tonumber(n))
		write(key, token, first, ttl)
		return { "granted", first, 0, waiting, "", count }
	end
	if owner == token then
		begin_phase(key, queue, shared, token, ttl)
		return { "granted", top, 0, waiting }
	end
	local fence = shares and phase(value)
		and join(key, queue, shared, token, ttl)
	if fence then
		return { "granted", fence, 0, redis.call("EXISTS", queue) }
	end
	if owner then
		holders = { owner }
	end
	local text = shares and token .. "/s" or token
	if quorum then
		text = me .. ".0" -- one of those to be told when it is free
	end
	if how == "q" then
		queue_up(key, queue, text, holders)
	end
	if #holders == 0 then
		met_plain(key)
		return { "foreign", 0, redis.call("PTTL", key),
			redis.call("LINDEX", queue, 0) ~= text and 1 or 0,
			quorum and string.sub(value, 1, 100) or "" }
	end
	return { how == "q" and "queued" or "busy", 0,
		phase(value) and lasts(shared) or redis.call("PTTL", ends),
		how ~= "q" and waiting == 0 and not client
			and keeps_warm(owner) or 0,
		owner or "" }
end }

-- Defines the operation on token holds.
function define_holds()

-- include token.lua

-- Takes a free name for a token hold.  Tokens before it in the queue come
-- first; with a q it gets in line itself.  If the name is not free, the answer
-- says whether it has the hold asked for.  Idempotent for one token and one
-- client.
op.claim = { keys = 3, args = 5,
run = function(key, queue, shared, seq, ttl, client, how, asked)
	if not blessed then
		return { "pending" }
	end
	local token = me .. "." .. seq
	local value = redis.call("GET", key)
	local owner, at, stored = parse(value)
	if owner == token and stored then
		return { "granted", at }
	end
	if not value or phase(value) and #sharers(shared) == 0 then
		local whose = pass_on(key, queue, shared, token)
		value = whose and whose ~= token and redis.call("GET", key)
	elseif owner == token then
		value = nil -- another broker handed it to us
	end
	if value then
		local what = string.sub(how, 1, 1)
		if what == "q" or what == "f" then
			local owner = parse(value)
			queue_up(key, queue, token,
				phase(value) and sharers(shared) or { owner },
				what == "f")
		end
		-- Waiters look when the key ends, whichever broker has it.
		local answer = described("busy", key, value, asked, how)
		if answer[3] < 0 then
			answer[3] = redis.call("PTTL", key)
		end
		return answer
	end
	local first = draw(1)
	redis.call("DEL", shared)
	hold(key, token, first, ttl, client)
	-- The next in the queue was told that an heir has two pads.
	if tonumber(ttl) < pad_ms then
		tell_end(key, queue, tonumber(ttl))
	end
	return { "granted", first }
end }

end

-- Defines the operations on other objects.
function define_others()

-- include object.lua
-- include semaphore.lua
-- include latch.lua
-- include barrier.lua

end

end

	end
-- include odd.lua
end

-- include answer.lua
