-- Semaphores: permits are leased by brokers on behalf of their sessions.
--
-- KEYS[k] is one hash:
--   limit     the limit that brokers with permits go by
--   turn      the last place given in the queue
--   p:BROKER  "PERMITS TILL SEQ": what a broker has, till then (server ms)
--   q:BROKER  "PLACE NEED CLAIM TILL": it waits for NEED more; CLAIM is 0, or
--             until when it may take the permits that it was told are free
--   s:BROKER  "HISTORY:K,K": slots that go with some of its permits, and the
--             history in which it said so.  Without permits it means nothing:
--             brokers of an earlier version pass over it.
--
-- Only the head of the queue may take, so that small requests do not pass a
-- large one for ever.  Every operation drops what has run out.

local function sem_load(key)
	local s = { key = key, used = 0, turn = 0, soon = math.huge,
		has = {}, queue = {}, slots = {}, mine = "" }
	local all = redis.call("HGETALL", key)
	for i = 1, #all, 2 do
		local kind, who = string.match(all[i], "^([pqs]):(.*)$")
		local a, b, c, d = string.match(all[i + 1],
			"^(%d+) ?(%d*) ?(%d*) ?(%d*)$")
		a, b, c, d = tonumber(a), tonumber(b), tonumber(c), tonumber(d)
		local till = kind == "p" and b or d
		if kind == "s" then
			s.slots[who] = all[i + 1]
		elseif not kind then
			s[all[i]] = a
		elseif till <= now_ms then
			redis.call("HDEL", key, all[i])
		elseif kind == "p" then
			s.has[who] = { n = a, seq = c }
			s.used = s.used + a
			s.soon = who ~= me and math.min(s.soon, till) or s.soon
		else
			s.queue[#s.queue + 1] =
				{ who = who, place = a, need = b, claim = c, till = d }
		end
	end
	table.sort(s.queue, function(x, y) return x.place < y.place end)
	return s
end

local function sem_mine(s)
	return s.has[me] and s.has[me].n or 0
end

-- Sets how many permits this broker has, for a lease and its pad from now.
local function sem_set(s, n, seq)
	s.used = s.used - sem_mine(s) + n
	if n > 0 then
		redis.call("HSET", s.key, "p:" .. me, int(n) .. " "
			.. int(now_ms + lease_ms + pad_ms) .. " " .. seq)
		s.has[me] = { n = n, seq = tonumber(seq) }
	else
		redis.call("HDEL", s.key, "p:" .. me)
		s.has[me] = nil
	end
end

-- Sets which slots this broker has: the slots that it says its sessions have,
-- and up to `room` new ones, the lowest that no broker has.  Returns all of
-- them as text.  `said` is "NEW:K,K", at most NEW new ones; or nothing.  A slot
-- that another broker has, too, is not ours; unless that broker said so before
-- a failover, and nothing since then, so that it may have given the slot back.
local function sem_slots(s, said, room)
	local new, list = string.match(said, "^(%d+):(.*)$")
	local theirs, mine, k = {}, {}, 0
	for who, text in pairs(s.slots) do
		local of, slots = string.match(text, "^(%x+):(.*)$")
		if not s.has[who] then
			redis.call("HDEL", s.key, "s:" .. who)
		elseif who ~= me then
			for slot in string.gmatch(slots, "%d+") do
				theirs[slot] = of == history and "said"
					or theirs[slot] or "perhaps"
			end
		end
	end
	for slot in string.gmatch(list or "", "%d+") do
		if theirs[slot] ~= "said" then
			theirs[slot] = "mine"
			mine[#mine + 1] = slot
		end
	end
	for _ = 1, math.min(tonumber(new or "0"), room) do
		while theirs[int(k)] do
			k = k + 1
		end
		theirs[int(k)] = "mine"
		mine[#mine + 1] = int(k)
	end
	s.mine = table.concat(mine, ",")
	if #mine > 0 then
		redis.call("HSET", s.key, "s:" .. me, history .. ":" .. s.mine)
	elseif s.slots[me] then
		redis.call("HDEL", s.key, "s:" .. me)
	end
end

local function sem_place(s, q)
	redis.call("HSET", s.key, "q:" .. q.who, int(q.place) .. " "
		.. int(q.need) .. " " .. int(q.claim) .. " " .. int(q.till))
end

local function sem_leave(s, who)
	for i, q in ipairs(s.queue) do
		if q.who == who then
			redis.call("HDEL", s.key, "q:" .. who)
			table.remove(s.queue, i)
			return q
		end
	end
end

-- If there is room for the head of the queue, tells it so, and tells the next
-- broker when to look in case the head does not come.  Drops a broker that does
-- not listen or come; if that broker still waits, it looks once a lease.  Stops
-- at `stop`, unless nil.
local function sem_wake(s, stop)
	while s.queue[1] and s.queue[1].who ~= stop do
		local q = s.queue[1]
		if s.used > 0 and s.used + q.need > s.limit then
			return
		end
		if q.claim == 0 and hint(q.who, "permit", s.key) then
			q.claim = now_ms + pad_ms
			sem_place(s, q)
			if s.queue[2] then
				hint(s.queue[2].who, "permit-soon", s.key)
			end
			return
		elseif now_ms < q.claim then
			s.soon = math.min(s.soon, q.claim)
			return
		end
		sem_leave(s, q.who)
	end
end

-- Sets how long the key lives, and returns the answer: the slots and permits
-- that this broker has, and the permits that no broker has.
local function sem_answer(s, word, limit)
	if s.used == 0 and #s.queue == 0 then
		redis.call("DEL", s.key)
	else
		redis.call("PEXPIRE", s.key, 2 * (lease_ms + pad_ms))
	end
	local waiting = 0
	for _, q in ipairs(s.queue) do
		waiting = q.who ~= me and 1 or waiting
	end
	return { word, 0, s.soon < math.huge and s.soon - now_ms or -1, waiting,
		s.mine, sem_mine(s), math.max(limit - s.used, 0) }
end

-- This broker uses `have` permits and gives back whatever else it has; it takes
-- up to `want` more, or none if it cannot have `need`.  Stating totals makes it
-- idempotent.
op.take = { keys = 1, args = 7, run = function(key, _, _, seq, have, need, want,
	limit, how, slots)
	if not blessed then
		return { "pending" }
	end
	have, need, want = tonumber(have), tonumber(need), tonumber(want)
	limit = tonumber(limit)
	local s = sem_load(key)
	local mine = s.has[me]
	-- Some permits were forgotten; or a later operation has run, and this
	-- one lay in a socket for long.
	if have > sem_mine(s) or mine and mine.seq > tonumber(seq) then
		return { "lost" }
	end
	sem_set(s, have, seq)
	sem_slots(s, slots, 0)
	if s.used > 0 and s.limit ~= limit then
		sem_leave(s, me)
		sem_wake(s)
		return sem_answer(s, "mismatch", s.limit)
	end
	sem_wake(s, me)
	local head = s.queue[1]
	if (not head or head.who == me) and s.used + need <= limit then
		sem_leave(s, me)
		redis.call("HSET", key, "limit", int(limit))
		s.limit = limit
		want = math.min(want, limit - s.used)
		sem_set(s, have + want, seq)
		sem_slots(s, slots, want)
		sem_wake(s)
		return sem_answer(s, "taken", limit)
	end
	local place = sem_leave(s, me)
	if how ~= "q" then
		sem_wake(s)
		return sem_answer(s, "busy", limit)
	end
	if not place then
		place = { who = me, place = s.turn + 1 }
		redis.call("HSET", key, "turn", int(place.place))
		for who in pairs(s.has) do
			if who ~= me then
				hint(who, "permit-wanted", key)
			end
		end
	end
	place.need, place.claim = need, 0
	place.till = now_ms + 2 * (lease_ms + pad_ms)
	sem_place(s, place)
	s.queue[#s.queue + 1] = place
	return sem_answer(s, "queued", limit)
end }

-- This broker uses `have` permits and needs no more: it renews or gives back.
-- On a server that is not blessed it writes forgotten permits again, but not
-- after `by` (server time, ms; 0: no end), when it no longer vouches for them.
op.hold = { keys = 1, args = 6,
run = function(key, _, _, seq, have, limit, how, by, slots)
	have, limit, by = tonumber(have), tonumber(limit), tonumber(by)
	local s = sem_load(key)
	local mine = s.has[me]
	if mine and mine.seq > tonumber(seq) then
		return { "lost" }
	end
	if have > sem_mine(s) and blessed then
		sem_set(s, 0, seq)
		sem_wake(s)
		sem_answer(s, "lost", limit)
		return { "lost" }
	end
	if have > sem_mine(s) and by > 0 and now_ms > by then
		return { "late" }
	end
	-- The stored limit may date from before this broker took its permits.
	if have > 0 and (not blessed or not s.limit) then
		redis.call("HSET", key, "limit", int(limit))
		s.limit = limit
	end
	sem_set(s, have, seq)
	sem_slots(s, slots, 0)
	local place = sem_leave(s, me)
	if place and how == "q" then
		place.till = now_ms + 2 * (lease_ms + pad_ms)
		sem_place(s, place)
		s.queue[#s.queue + 1] = place
		table.sort(s.queue, function(x, y) return x.place < y.place end)
	end
	if blessed then
		sem_wake(s)
	end
	return sem_answer(s, "kept", s.limit or limit)
end }
