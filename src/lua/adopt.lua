-- Holds of brokers that have gone: token holds, and names that are kept for
-- nobody (keep=, delay=).  Their keys live on, but if Redis forgot one, nobody
-- would write it again.  So when a broker has gone, one of the other brokers
-- goes through all keys, in steps, and puts its own token into such holds.  The
-- successor of a process does so with the token holds that the process hands
-- over: those with numbers up to a limit.  The process may still doubt a hold
-- with a later number; it would end that hold by its own token.
--
-- Keys that end within a lease and a pad are left alone: a server that has
-- forgotten them grants nothing for longer than that (the grace period).
-- Shared names are left alone, too, and so is every lease that is only held:
-- its key lives no longer than that, unless the clock was put back, which the
-- mark of its broker shows.

local adopt_keys = 500 -- in a step, about

-- Returns the next keys of this guard, and the cursor after them: "0" at the
-- end.  The keys of a bucket of a cluster are all of one slot, and are few.
local function scan(cursor)
	local head = string.sub(guard, 1, cut)
	if string.find(head, "{%d+}:$") then
		return "0", redis.call("CLUSTER", "GETKEYSINSLOT",
			redis.call("CLUSTER", "KEYSLOT", guard), 20000)
	end
	local found = redis.call("SCAN", cursor, "MATCH",
		string.gsub(head, "[%*%?%[%]%^\\]", "\\%0") .. "*",
		"COUNT", adopt_keys)
	return found[1], found[2]
end

-- Returns the values of any number of keys; a key that is no string has none.
local function values_of(keys)
	local values = {}
	for i = 1, #keys, adopt_keys do
		local part = {}
		for n = i, math.min(#keys, i + adopt_keys - 1) do
			part[#part + 1] = keys[n]
		end
		for n, value in ipairs(look(part)) do
			values[i + n - 1] = value
		end
	end
	return values
end

-- The client, and no user, of a name that is kept for nobody: no client has it.
local nobody = "%|%"

-- Puts a hold under a token of this broker.  Returns what the broker must know
-- of the hold, in a line: fence, for how long it lasts (ms; 0: without end),
-- client, name.
local function adopt(key, seq, n, client)
	local rest = redis.call("PTTL", key)
	if rest >= 0 and rest <= lease_ms + pad_ms or rest < 0 and not client then
		return nil
	end
	local ms = rest < 0 and 0 or client and rest - pad_ms or rest
	client = client or nobody
	hold(key, me .. "." .. string.format(whole, seq), n,
		string.format(whole, ms), client)
	return string.format(whole .. " " .. whole .. " ", n, ms) .. client .. " "
		.. string.sub(key, cut + 1) .. "\n"
end

-- Turns a tombstone of ours into a hold of nobody, so that it can be handed
-- over.  Idempotent: the window lasts for ttl ms from now on in any case.
op.disown = { keys = 3, args = 2, run = function(key, _, _, seq, ttl)
	if not blessed then
		return { "pending" }
	end
	local token = me .. "." .. seq
	local owner, n, client = parse(redis.call("GET", key))
	if owner ~= token or client and client ~= nobody then
		return { "lost" }
	end
	hold(key, token, n, ttl, nobody)
	return { "renewed", n }
end }

-- Returns which broker hands token holds over to this one: broker, number,
-- time; or nil.
local function handed()
	local from, upto, at = string.match(redis.call("HGET", guard,
		"h:" .. string.match(me, "^(.*)%.")) or "", "^(%S+) (%d+) (%d+)$")
	if from ~= me then
		return from, tonumber(upto), tonumber(at)
	end
end

-- Goes on with a pass from the cursor.  The holds that it adopts get the tokens
-- from seq on.  The answer has the next cursor ("0": the pass is over) in its
-- first line.  It is `gone` if another broker makes the pass.
op.adopt = { args = 2, run = function(seq, cursor)
	if not blessed then
		return { "pending" }
	end
	local who, start = string.match(redis.call("HGET", guard, "pass") or "",
		"^(%S+) (%d+) ")
	if who ~= me then
		return { "gone" }
	end
	redis.call("HSET", guard, "pass", me .. " " .. start .. " " .. now_ms)
	local next, keys = scan(cursor)
	local values, lines = values_of(keys), {}
	local here, ahead = { [me] = true }, {}
	local from, upto, at = handed()
	for i, key in ipairs(keys) do
		local token, n, client = parse(values[i])
		tell_odd(key)
		local broker, number =
			string.match(token or "", "^(.*)%.(%d+)$")
		if broker and here[broker] == nil then
			local ms = tonumber(redis.call("HGET", guard,
				"b:" .. broker) or nil)
			here[broker] = ms and not is_silent(ms) or false
			ahead[broker] = ms and ms > now_ms
		end
		local given = client and from and broker == from
			and tonumber(number) <= upto
		if broker and (given or not here[broker]
				and (client or not ahead[broker]))
			and string.sub(key, 1, cut) == string.sub(guard, 1, cut)
			and not string.find(key, "[%c ]") then
			lines[#lines + 1] = adopt(key, tonumber(seq) + #lines, n, client)
		end
	end
	if next == "0" then
		redis.call("HDEL", guard, "pass")
		redis.call("HSET", guard, "passed", start)
		-- What was reported during the pass needs another pass.
		if from and at <= tonumber(start) then
			redis.call("HDEL", guard,
				"h:" .. string.match(me, "^(.*)%."))
		end
		if tonumber(redis.call("HGET", guard, "left") or "0")
			<= tonumber(start) then
			redis.call("HDEL", guard, "left")
		end
	end
	return { "value", 0, 0, 0, next .. "\n" .. table.concat(lines) }
end }
