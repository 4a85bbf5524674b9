-- What the scripts of semaphores, latches and barriers share.

local function int(n)
	return string.format(whole, n)
end

-- Sends the hint `WORD 0 NAME` to a broker; returns true if it listens.  The
-- key is that of a semaphore, latch or barrier, PREFIX@KIND:NAME.
local function hint(broker, word, key)
	local name = string.match(string.sub(key, cut + 1), "^@%l+:(.*)$")
	return redis.call("PUBLISH", prefix .. "@" .. broker,
		word .. " 0 " .. name) > 0
end
