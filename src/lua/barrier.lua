-- Barriers: cyclic, in generations, each of which is complete or broken.
--
-- KEYS[k] is one hash:
--   gen, n, parties  the present generation, how many have arrived, of how many
--   id               master_replid of the history in which that is so
--   times            how often the guard had been blessed when the generation
--                    began: a bucket of a cluster may return to a history that
--                    it had left, after brokers were told higher generations
--   b:BROKER         "GEN STATE SEQ BASE TOOK TILL": the places of a broker in
--                    a generation; STATE is w (waits), t (it tripped) or x (it
--                    is broken); the latest arrival, SEQ, took TOOK places from
--                    BASE on; a w that lasts until TILL breaks the generation
--   t:BROKER         the number under which that generation tripped, if it is
--                    not GEN
--
-- A broker's entry keeps the end of a generation until that broker has noted
-- it.  No generation number is ever used twice, whatever Redis forgets.

-- How long the entry is kept for a broker that was cut off, and may come back.
local bar_note_ms = 10 * (lease_ms + pad_ms)

local bar_words = { w = "waiting", t = "tripped", x = "broken" }

local function bar_place(b, who, e)
	e.till = now_ms + (e.state == "w" and lease_ms + pad_ms or bar_note_ms)
	redis.call("HSET", b.key, "b:" .. who, table.concat({ int(e.gen), e.state,
		e.seq, int(e.base), int(e.took), int(e.till) }, " "))
	b.at[who] = e
end

-- Ends the generation in `state`, tells the other brokers, and begins the next.
local function bar_next(b, state)
	-- If the guard was blessed since the generation began, the data may
	-- have gone back, and brokers may have been told that the generation
	-- tripped.  So it trips under another number now.
	local other = state == "t" and b.times ~= b.now and draw(1)
	for who, e in pairs(b.at) do
		if e.state == "w" then
			e.state = state
			bar_place(b, who, e)
			if other then
				b["t:" .. who] = other
				redis.call("HSET", b.key, "t:" .. who, int(other))
			end
			if who ~= me then
				hint(who, "barrier", b.key)
			end
		end
	end
	-- In the same history no higher number can have been told.
	b.gen = b.gen and b.id == replid and b.times == b.now and b.gen + 1
		or draw(1)
	raise(b.gen)
	b.n, b.id, b.times = 0, replid, b.now
	redis.call("HSET", b.key, "gen", int(b.gen), "n", 0, "id", replid,
		"times", b.now)
end

local function bar_load(key)
	local b = { key = key, at = {}, n = 0,
		now = tonumber(redis.call("HGET", guard, "n") or "0") }
	local all, over = redis.call("HGETALL", key), false
	for i = 1, #all, 2 do
		local who = string.match(all[i], "^b:(.*)$")
		if all[i] == "id" then
			b.id = all[i + 1]
		elseif all[i] == "gen" or string.sub(all[i], 1, 2) == "t:" then
			b[all[i]] = checked(all[i + 1])
		elseif not who then
			b[all[i]] = tonumber(all[i + 1])
		else
			local gen, state, seq, base, took, till = string.match(
				all[i + 1], "^(%d+) (%l) (%d+) (%d+) (%d+) (%d+)$")
			if tonumber(till) > now_ms and checked(gen) then
				b.at[who] = { gen = tonumber(gen), state = state,
					seq = seq, base = tonumber(base),
					took = tonumber(took), till = tonumber(till) }
			else
				redis.call("HDEL", key, all[i], "t:" .. who)
				over = over or state == "w"
			end
		end
	end
	-- Another history may lack arrivals of this history, or have them
	-- twice.
	if b.gen and (over or b.id ~= replid) then
		bar_next(b, "x")
	elseif b.gen and b.n == 0 and b.times ~= b.now then
		bar_next(b, "x") -- nobody is in it: it gets another number
	end
	return b
end

-- Sets how long the key lives, and returns the answer.  A later generation of
-- the broker has a higher number than a generation that tripped under another
-- number.
local function bar_answer(b, e)
	local soon, last = math.huge, now_ms + 2 * (lease_ms + pad_ms)
	for who, other in pairs(b.at) do
		last = math.max(last, other.till)
		if other.state == "w" and who ~= me then
			soon = math.min(soon, other.till)
		end
	end
	redis.call("PEXPIRE", b.key, int(last - now_ms))
	local gen = e.state == "t" and math.max(e.gen, b["t:" .. me] or 0)
	return { bar_words[e.state], gen or e.gen,
		soon < math.huge and soon - now_ms or -1, 0, "", e.base, e.took }
end

-- Returns the answer for places that are no longer known: they are broken.
local function bar_unknown(b, gen)
	if b.gen == gen then
		bar_next(b, "x")
	end
	return bar_answer(b, { state = "x", gen = gen, base = 0, took = 0 })
end

-- k parties of this broker arrive, as far as this generation has room.  `gen`
-- is the generation in which the broker has places already (0: none).
-- Idempotent by seq; k = 0 only asks what became of an arrival.
op.arrive = { keys = 1, args = 4, run = function(key, _, _, seq, gen, k, parties)
	if not blessed then
		return { "pending" }
	end
	gen, k, parties = tonumber(gen), tonumber(k), tonumber(parties)
	local b = bar_load(key)
	local e = b.at[me]
	if e and e.seq == seq then
		return bar_answer(b, e)
	end
	-- A party joins the generation in which the broker has places, if that
	-- goes on.  Places that the broker does not know of are those of
	-- parties that it has given up: they break their generation.
	if gen > 0 and not (e and e.gen == gen) then
		return bar_unknown(b, gen)
	elseif gen > 0 and (e.state ~= "w" or k == 0) then
		return bar_answer(b,
			{ state = e.state, gen = gen, base = 0, took = 0 })
	elseif gen == 0 and e and e.state == "w" then
		bar_next(b, "x")
	end
	if k == 0 then
		return bar_answer(b, { state = "x", gen = 0, base = 0, took = 0 })
	end
	if b.n > 0 and b.parties ~= parties then
		return { "mismatch", 0, 0, 0, "", b.parties }
	end
	if not b.gen then
		bar_next(b, "x")
	end
	e = { gen = b.gen, state = "w", seq = seq, base = b.n,
		took = math.min(k, parties - b.n) }
	bar_place(b, me, e)
	b.n = b.n + e.took
	redis.call("HSET", key, "n", int(b.n), "parties", int(parties))
	if b.n == parties then
		bar_next(b, "t")
	end
	return bar_answer(b, e)
end }

-- Reports what became of the broker's places in a generation, and keeps them.
-- The latest places came with `seq`; data that went back may have only earlier
-- ones.
op.party = { keys = 1, args = 2, run = function(key, _, _, seq, gen)
	gen = tonumber(gen)
	local b = bar_load(key)
	local e = b.at[me]
	if not e or e.gen ~= gen or e.seq ~= seq then
		return bar_unknown(b, gen)
	end
	if e.state == "w" then
		bar_place(b, me, e)
	end
	return bar_answer(b, { state = e.state, gen = gen, base = 0, took = 0 })
end }

-- Leaves the barrier, which breaks a generation that still waits.  If the
-- generation has tripped, reports that instead (how = l), or forgets it because
-- the broker has noted it (n).  The latest places came with `seq`; data that
-- went back may have earlier ones, which tripped.
op.leave = { keys = 1, args = 2, run = function(key, _, _, seq, how)
	local b = bar_load(key)
	local e = b.at[me]
	if not e then
		return { "gone" }
	end
	if e.state == "t" and how == "l" and e.seq == seq then
		return bar_answer(b,
			{ state = "t", gen = e.gen, base = 0, took = 0 })
	end
	if e.state == "w" then
		bar_next(b, "x")
	end
	redis.call("HDEL", key, "b:" .. me, "t:" .. me)
	b.at[me] = nil
	bar_answer(b, { state = "x", gen = 0, base = 0, took = 0 })
	return { "ended" }
end }
