-- Reports to users what exists under a name, and changes nothing.  Locks,
-- semaphores, latches and barriers have separate names; a look at a lock also
-- shows in bits which other objects have the same name (2: semaphore, 4: latch,
-- 8: barrier), and the address of the broker that has the lock.

-- Returns the limit and the free permits; nil if no broker has or awaits any.
local function look_semaphore(key)
	if redis.call("EXISTS", key) == 0 then
		return nil
	end
	local all, limit, used, waits = redis.call("HGETALL", key), nil, 0, false
	for i = 1, #all, 2 do
		local n, till = string.match(all[i + 1], "^(%d+) (%d+) ")
		if all[i] == "limit" then
			limit = tonumber(all[i + 1])
		elseif string.sub(all[i], 1, 2) == "q:" then
			waits = true
		elseif n and tonumber(till) > now_ms then
			used = used + tonumber(n)
		end
	end
	if not limit or used == 0 and not waits then
		return nil
	end
	return limit, math.max(limit - used, 0)
end

local function look_latch(key)
	return tonumber(redis.call("HGET", key, "count") or nil)
end

-- Returns the parties, and how many have arrived; nil if nobody waits there.
local function look_barrier(key)
	local g = redis.call("HMGET", key, "parties", "n", "id")
	local n = tonumber(g[2] or "0")
	if n == 0 or g[3] ~= replid then
		return nil
	end
	return tonumber(g[1]), n
end

local function look_at(key, shared, sem, latch, barrier, what)
	local first, second
	if what == "l" then
		local value, left_ms = present(key, shared)
		local owner, _, client = parse(value)
		local broker = owner and broker_of(owner)
		return { "value", 0, left_ms,
			not client and keeps_warm(owner) or 0, shown(value),
			(look_semaphore(sem) and 2 or 0)
				+ (look_latch(latch) and 4 or 0)
				+ (look_barrier(barrier) and 8 or 0), 0,
			broker and redis.call("HGET", guard, "a:" .. broker) or "" }
	elseif what == "s" then
		first, second = look_semaphore(sem)
	elseif what == "t" then
		first = look_latch(latch)
	else
		first, second = look_barrier(barrier)
	end
	return first and { "value", 0, 0, 0, "", first, second or 0 } or { "gone" }
end

op.look = { many = true, run = function(k, a)
	out[#out + 1] = attempt(look_at, KEYS[k], KEYS[k + 1], KEYS[k + 2],
		KEYS[k + 3], KEYS[k + 4], ARGV[a])
	return k + 5, a + 1
end }
