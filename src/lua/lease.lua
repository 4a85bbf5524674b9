-- Leases: the string key of a name holds TOKEN|FENCE of the broker that has it,
-- where TOKEN is BROKER.INSTANCE.SEQ, or @shared|FENCE|EPOCH while brokers
-- share the name; TOKEN|FENCE|CLIENT is no lease but a token hold (token.lua).
-- Any other value is a plain client's and is never overwritten.
--
-- A sorted set beside it holds the sharers: tokens by the server time (ms) at
-- which each runs out.  The marker lives at least as long as the last token.
--
-- The queue is a list of tokens; "/s" follows a token that wants to share.

local ours = "^([%w_.-]+%." .. string.rep("%x", 16)
	.. "%.%d+)|(%d+)(|?)([^%c ]*)$"

-- Returns token and fence (a number) of a value of our form, and of a token
-- hold its CLIENT or CLIENT|USER; nil for any other value, and for a value
-- whose fence cannot be ours.
local function parse(value)
	if not value or #value > 2400 then
		return nil -- megabytes would take long to look through
	end
	local token, n, bar, rest = string.match(value, ours)
	if not token or bar == "" and rest ~= "" then
		return nil
	end
	n = checked(n)
	if n then
		return token, n, bar ~= "" and rest or nil
	end
end

-- The fence of a phase of sharing; nil for any other value.
local function phase(value)
	local n = value and (string.match(value, "^@shared|(%d+)$")
		or string.match(value, "^@shared|(%d+)|%x+$"))
	return n and checked(n)
end

-- Is this phase known to go on?  Data that went back may have a phase that
-- ended since: then no broker of this epoch has begun it or written it again.
-- A phase without an epoch was written before guards had epochs.
local function goes_on(value)
	local epoch = string.match(value, "^@shared|%d+|(%x+)$")
	return not epoch or epoch == redis.call("HGET", guard, "epoch")
end

local function write(key, token, n, ttl_ms)
	redis.call("SET", key, token .. "|" .. string.format(whole, n),
		"PX", ttl_ms)
end

-- Sends `WORD SEQ NAME`, with `more` before the name, to the broker that a
-- token belongs to; returns true if it listens.
local function tell(token, word, key, more)
	local broker, seq = string.match(token, "^(.*)%.(%d+)$")
	return redis.call("PUBLISH", prefix .. "@" .. broker, word .. " " .. seq
		.. " " .. (more or "") .. string.sub(key, cut + 1)) > 0
end

-- Drops the sharers of a name that have run out, and returns the others.
local function sharers(shared)
	redis.call("ZREMRANGEBYSCORE", shared, "-inf", now_ms)
	return redis.call("ZRANGE", shared, 0, -1)
end

-- Returns for how long (ms) the sharers have the name; the marker may last
-- longer.
local function lasts(shared)
	local last = redis.call("ZRANGE", shared, -1, -1, "WITHSCORES")[2]
	return last and tonumber(last) - now_ms or 0
end

-- Returns the value of the key, and for how long it is true (ms), which is a
-- pad less than a token hold's key lives; nil, -2 if it marks a phase in which
-- nobody shares any more.
local function present(key, shared)
	local value = redis.call("GET", key)
	local left_ms = phase(value) and lasts(shared) or redis.call("PTTL", key)
	local _, _, client = parse(value)
	if client and left_ms >= 0 then
		left_ms = math.max(0, left_ms - pad_ms)
	end
	if phase(value) and left_ms <= 0 then
		return nil, -2
	end
	return value, left_ms
end

-- Writes a phase as a phase of this epoch.
local function write_phase(key, n, ttl_ms)
	local epoch = redis.call("HGET", guard, "epoch")
	redis.call("SET", key, "@shared|" .. string.format(whole, n)
		.. (epoch and "|" .. epoch or ""), "PX", ttl_ms)
end

-- Returns the fence for whoever joins a phase.  It is new if the phase is not
-- known to go on, because the name may have had a higher fence since; no broker
-- relies on the old fence any more.  Only a keep= or delay= still has the name
-- there.
local function joined(key)
	local value = redis.call("GET", key)
	if goes_on(value) then
		return phase(value)
	end
	local first = draw(1)
	write_phase(key, first, redis.call("PTTL", key))
	return first
end

-- Lets a token share for ttl_ms, without cutting short anybody else's time.
local function share(key, shared, token, ttl_ms)
	ttl_ms = tonumber(ttl_ms)
	redis.call("ZADD", shared, now_ms + ttl_ms, token)
	for _, one in ipairs({ key, shared }) do
		if redis.call("PTTL", one) < ttl_ms then
			redis.call("PEXPIRE", one, ttl_ms)
		end
	end
end

-- The broker of a token, with its instance.
local function broker_of(token)
	return string.match(token, "^(.*)%.%d+$")
end

-- For how long (ms) the broker of a token keeps names for nobody (locks.warm).
local function warm_of(token)
	local ms = redis.call("HGET", guard, "w:" .. broker_of(token))
	return tonumber(ms or "0") or 0
end

-- Does the broker keep any?  Then a name that it has may be free (op.recall in
-- keep.lua): returns 1, otherwise 0.
local function keeps_warm(token)
	return token and warm_of(token) > 0 and 1 or 0
end

-- Returns the token of an entry of the queue, and whether it wants to share.
local function entry(text)
	local token = text and string.match(text, "^(.*)/s$")
	return token or text, token ~= nil
end

-- Lets in together all tokens at the head of the queue that want to share.
-- Each has a pad to confirm.
local function admit(key, queue, shared)
	while true do
		local token, shares = entry(redis.call("LINDEX", queue, 0) or nil)
		if not token or not shares then
			return
		end
		redis.call("LPOP", queue)
		if tell(token, "grant", key) then
			joined(key)
			share(key, shared, token, pad_ms)
		end
	end
end

-- Begins a phase of sharing, with one fence for all of it.
local function begin_phase(key, queue, shared, token, ttl_ms)
	write_phase(key, draw(1), ttl_ms)
	redis.call("DEL", shared)
	share(key, shared, token, ttl_ms)
	admit(key, queue, shared)
end

-- Gives a free name to the first token of its queue whose broker listens.  The
-- message tells that broker the fence, the server's time and history, and
-- whether others wait.  The key lives for two pads; the broker may rely on it
-- for one, or confirms.  If it wants to share, a phase begins.  The next in the
-- queue is told to look.  Stops at `stop`, unless nil, and takes that out of
-- the queue.  `again`: the caller will get in line.
-- Returns the token whose turn it is, `stop` or the heir; nil if none is left.
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
