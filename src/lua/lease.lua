-- Leases: the string key of a name holds TOKEN|FENCE of the broker that has
-- it, where TOKEN is BROKER.INSTANCE.SEQ, or @shared|FENCE while brokers share
-- it; TOKEN|FENCE|CLIENT is no lease but a token hold (token.lua).  Any other
-- value is a plain client's and is never overwritten.
--
-- Who shares it is in a sorted set beside it: tokens by the server time (ms)
-- at which each runs out.  The marker lives as long as the longest of them.
--
-- The queue is a list of tokens; one that wants to share has "/s" behind it.

local ours = "^([%w_.-]+%." .. string.rep("%x", 16) .. "%.%d+)|(%d+)(.*)$"

-- Token and fence (a number) of a value of our form; of a token hold also the
-- client's token.  Else nil.
local function parse(value)
	if not value or #value > 2400 then
		return nil -- some megabytes would take long to look through
	end
	local token, n, rest = string.match(value, ours)
	if token and rest == "" then
		return token, tonumber(n)
	elseif token and string.sub(rest, 1, 1) == "|" then
		return token, tonumber(n), string.sub(rest, 2)
	end
end

-- The fence of a phase of sharing; nil for any other value.
local function phase(value)
	return value and tonumber(string.match(value, "^@shared|(%d+)$")) or nil
end

local function write(key, token, n, ttl_ms)
	redis.call("SET", key, token .. "|" .. string.format(whole, n),
		"PX", ttl_ms)
end

-- Sends `WORD SEQ NAME`, or more before the name, to the broker that a token
-- belongs to; true if it listens.
local function tell(token, word, key, more)
	local broker, seq = string.match(token, "^(.*)%.(%d+)$")
	return redis.call("PUBLISH", prefix .. "@" .. broker, word .. " " .. seq
		.. " " .. (more or "") .. string.sub(key, cut + 1)) > 0
end

-- Those who share a name, without those whose time is over.
local function sharers(shared)
	redis.call("ZREMRANGEBYSCORE", shared, "-inf", now_ms)
	return redis.call("ZRANGE", shared, 0, -1)
end

-- How long those who share the name keep it; the marker may last longer.
local function lasts(shared)
	local last = redis.call("ZRANGE", shared, -1, -1, "WITHSCORES")[2]
	return last and tonumber(last) - now_ms or 0
end

-- What the key says, and for how long: nothing, where nobody shares it any more.
local function present(key, shared)
	local value = redis.call("GET", key)
	local left_ms = phase(value) and lasts(shared) or redis.call("PTTL", key)
	if phase(value) and left_ms <= 0 then
		return nil, -2
	end
	return value, left_ms
end

-- Lets a token share for ttl_ms; nobody's time is cut short by it.
local function share(key, shared, token, ttl_ms)
	ttl_ms = tonumber(ttl_ms)
	redis.call("ZADD", shared, now_ms + ttl_ms, token)
	if redis.call("PTTL", key) < ttl_ms then
		redis.call("PEXPIRE", key, ttl_ms)
	end
	if redis.call("PTTL", shared) < ttl_ms then
		redis.call("PEXPIRE", shared, ttl_ms)
	end
end

-- Token of an entry of the queue, and whether it wants to share.
local function entry(text)
	local token = text and string.match(text, "^(.*)/s$")
	return token or text, token ~= nil
end

-- Those at the head of the queue who want to share come in together.  Each
-- has a pad to confirm.
local function admit(key, queue, shared)
	while true do
		local token, shares = entry(redis.call("LINDEX", queue, 0) or nil)
		if not token or not shares then
			return
		end
		redis.call("LPOP", queue)
		if tell(token, "grant", key) then
			share(key, shared, token, pad_ms)
		end
	end
end

-- Begins a phase of sharing, with one fence for all of it.
local function begin_phase(key, queue, shared, token, ttl_ms)
	write(key, "@shared", draw(1), ttl_ms)
	redis.call("DEL", shared)
	share(key, shared, token, ttl_ms)
	admit(key, queue, shared)
end

-- Gives a free name to the first broker of its queue that listens, for a
-- hand-over lease of two pads; that broker may go by it for one, or confirms:
-- it is told the fence, when this was, by whose clock, and whether others wait.
-- The next in the queue is told when to look.  Stops before `stop`, unless nil,
-- which is out of the queue then.  `again`: the caller will get in line.
-- Returns whose the name is: nil, nobody's.
local function pass_on(key, queue, shared, stop, again)
	local heir, shares = entry(redis.call("LPOP", queue) or nil)
	local first, next, heard
	while heir and heir ~= stop do
		next = entry(redis.call("LINDEX", queue, 0) or nil)
		if shares then
			heard = tell(heir, "grant", key)
		else
			first = first or string.format(whole, draw(1))
			heard = tell(heir, "given", key, first .. " " .. clock[1]
				.. " " .. clock[2] .. " " .. history
				.. ((next or again) and " 1 " or " 0 "))
		end
		if heard and shares then
			begin_phase(key, queue, shared, heir, pad_ms)
			next = entry(redis.call("LINDEX", queue, 0) or nil)
		elseif heard then
			redis.call("SET", key, heir .. "|" .. first,
				"PX", 2 * pad_ms)
		end
		if heard and next then
			tell(next, "look", key)
		end
		if heard then
			return heir
		end
		heir, shares = entry(redis.call("LPOP", queue) or nil)
	end
	return heir
end

local function leave(queue, token)
	if redis.call("LREM", queue, 0, token) == 0 then
		redis.call("LREM", queue, 0, token .. "/s")
	end
end
