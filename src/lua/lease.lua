-- Leases: the string key of a name holds TOKEN|FENCE of the broker that has
-- it, where TOKEN is BROKER.INSTANCE.SEQ.  Any other value is a plain
-- client's and is never overwritten.

local ours = "^([%w_.-]+%." .. string.rep("%x", 16) .. "%.%d+)|(%d+)$"

-- Token and fence (a number) of a value of our form; else nil.
local function parse(value)
	if not value then
		return nil
	end
	local token, n = string.match(value, ours)
	return token, tonumber(n)
end

local function write(key, token, n, ttl_ms)
	redis.call("SET", key, token .. "|" .. string.format("%.0f", n),
		"PX", ttl_ms)
end

-- Sends `WORD SEQ NAME` to the broker that a token belongs to; true if it
-- listens.
local function tell(token, word, key)
	local broker, seq = string.match(token, "^(.*)%.(%d+)$")
	return redis.call("PUBLISH", prefix .. "@" .. broker,
		word .. " " .. seq .. " " .. string.sub(key, cut + 1)) > 0
end

-- Gives a free name to the first broker of its queue that listens, for a
-- hand-over lease of one pad, which that broker must confirm; the next in the
-- queue is told when to look.  Stops at `stop`, unless nil, and returns it.
-- Returns nil where nobody was left: then the key is gone.
local function pass_on(key, queue, stop)
	local heir = redis.call("LPOP", queue)
	while heir and heir ~= stop do
		if tell(heir, "grant", key) then
			write(key, heir, top, pad_ms)
			local next = redis.call("LINDEX", queue, 0)
			if next then
				tell(next, "look", key)
			end
			return heir
		end
		heir = redis.call("LPOP", queue)
	end
	if not heir then
		redis.call("DEL", key)
	end
	return heir or nil
end

local op = {}
