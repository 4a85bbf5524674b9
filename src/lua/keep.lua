#!lua flags=allow-oom
-- Keeps, ends and looks: operations that must work even when memory is full,
-- because otherwise every lock would be lost.

-- include values.lua

-- A call that only ends leases for which nobody waits needs no guard: nothing is
-- granted, and a key with our token is ours to delete, whatever this server's
-- history.  Its answer has no report.  If a name needs more, all goes on as usual.
if ARGV[12] == "drop" and string.byte(ARGV[11]) ~= 113 then -- no quorum
	local me, quorum, out, k, a, odd = ARGV[4], false, { false }, 3, 12, nil
-- include drop.lua
	if not odd and not ARGV[a] then
		return out
	end
end

-- include guard.lua

while a <= words do
	local word, odd = ARGV[a], nil
	if word == "keep" then
-- include renew.lua
	elseif word == "drop" then
-- include drop.lua
	elseif word == "token" then
-- include give.lua
	else
		odd = true
	end
	if odd and not op then
-- include define.lua

-- Was a broker last heard of so long ago that it has gone?  A broker that stays
-- away is marked ahead, by at most four times as long.
local function is_silent(ms)
	return now_ms - ms > lease_ms + pad_ms
		or ms - now_ms > 5 * (lease_ms + pad_ms)
end

-- Makes the functions that only heartbeats and `idle` need: few calls have one.
local function beat_parts()

-- Returns the other sentries of the server (`watch` of the guard), and whether
-- this broker is one of them.
local function sentries(watch)
	local others, mine = {}, false
	for broker, ms in string.gmatch(watch or "", "(%S+) (%d+)") do
		if broker == me then
			mine = true
		elseif math.abs(now_ms - tonumber(ms)) < stall_ms * 2 / 3 then
			others[#others + 1] = broker .. " " .. ms
		end
	end
	return others, mine
end

-- Of the brokers that have nothing, two are sentries: they call as often as
-- usual.  The others stay away, for longer the more there are, so that about
-- eight call in each stall: if both sentries die, one of the others still calls
-- in time.  Returns for how long this broker may stay away, at most `most` ms,
-- and marks it until then; 0 if it must call as usual.
local function stay_away(watch, reached, most)
	-- The guard has about 10 fields, then three or four for each broker.
	local brokers = (redis.call("HLEN", guard) - 10) / (reached and 4 or 3)
	local away = math.min(most, math.floor(brokers / 8) * stall_ms)
	if away <= stall_ms / 3 then
		return 0
	end
	local others = sentries(watch)
	if #others < 2 then
		others[#others + 1] = me .. " " .. now_ms
		redis.call("HSET", guard, "watch", table.concat(others, " "))
		return 0
	end
	away = math.floor(away)
	redis.call("HSET", guard, "b:" .. me, now_ms + away)
	return away
end

-- Forgets brokers that have died without signing off: after a day, so that
-- users can see which one is missing, but soon if they are many, or if another
-- broker of that name was started since.  Their holds are looked for once more.
local function sweep()
	local all, seen, gone = redis.call("HGETALL", guard), {}, {}
	local soon_ms, latest = 10 * (lease_ms + pad_ms), {}
	local after_ms = #all > 2 * 56 and soon_ms or 86400000
	for i = 1, #all, 2 do
		local name = string.match(all[i], "^b:(.*)%.%x*$")
		if name then
			latest[name] = math.max(latest[name] or 0,
				tonumber(all[i + 1]) or 0)
		end
	end
	for i = 1, #all, 2 do
		local name = string.match(all[i], "^b:(.*)%.%x*$")
		local ms = name and (tonumber(all[i + 1]) or 0)
		local age_ms = name and math.abs(now_ms - ms)
		if name and (age_ms > after_ms
			or age_ms > soon_ms and ms < latest[name]) then
			gone[#gone + 1] = all[i]
		elseif name then
			seen[string.sub(all[i], 3)] = true
		end
	end
	seen[me] = true
	for i = 1, #all, 2 do
		local broker = string.match(all[i], "^[aiw]:(.*)$")
		if broker and not seen[broker] then
			gone[#gone + 1] = all[i]
		end
	end
	for _, field in ipairs(gone) do
		redis.call("HDEL", guard, field)
	end
	if #gone > 0 then
		redis.call("HSET", guard, "left", now_ms)
	end
	if notes and math.abs(now_ms - notes) > 7200000 then
		redis.call("HDEL", guard, "plain", "met")
		notes = nil
	end
end

-- Has a broker died since the last pass began?  It is silent; one that signed
-- off says that it has gone (`left`).  A broker that is marked far ahead,
-- because the clock was put back, may be either.
local function has_gone(passed)
	local all = redis.call("HGETALL", guard)
	for i = 1, #all, 2 do
		local ms = string.sub(all[i], 1, 2) == "b:" and tonumber(all[i + 1])
		if ms and ms < now_ms and is_silent(ms)
			and ms + lease_ms + pad_ms >= passed then
			return true
		end
	end
	return false
end

-- Once a lease, one broker looks whether another one has gone.  Returns 1 if
-- this broker is to go through all keys (adopt.lua): it is noted for that.  If
-- the broker that was noted before is silent, another one begins anew.  An heir
-- is to do so at once.
local function look_for_gone(heir)
	local has = redis.call("HMGET", guard, "looked", "pass", "passed", "left")
	local who, last = string.match(has[2] or "", "^(%S+) %d+ (%d+)$")
	if who and math.abs(now_ms - tonumber(last)) < lease_ms then
		return who == me and 1 or 0
	end
	if not blessed or quorum or not heir
		and math.abs(now_ms - (tonumber(has[1] or "0") or 0)) < lease_ms then
		return 0
	end
	redis.call("HSET", guard, "looked", now_ms)
	local passed = tonumber(has[3] or "0") or 0
	if not (heir or has[4]
		or has_gone(passed <= now_ms and passed or 0)) then
		return 0
	end
	redis.call("HSET", guard, "pass", me .. " " .. now_ms .. " " .. now_ms)
	return 1
end

-- Notes whether a broker is there that knows nothing of warm names: it has no
-- `w:`.  Such a broker would tell its clients that warm names are taken.
local function note_old()
	local all, of, old = redis.call("HGETALL", guard), {}, false
	for i = 1, #all, 2 do
		of[all[i]] = all[i + 1]
	end
	for field, ms in pairs(of) do
		local broker = string.match(field, "^b:(.*)$")
		old = old or broker and not of["w:" .. broker]
			and not is_silent(tonumber(ms) or 0)
	end
	if old then
		redis.call("HSET", guard, "old", 1)
	elseif of.old then
		redis.call("HDEL", guard, "old")
	end
end

return sentries, stay_away, sweep, look_for_gone, note_old

end

-- The call itself is the heartbeat; here a broker says where users reach it,
-- what else they see of it (`about`, an `i:` of the guard), for how long it
-- keeps names warm (ms; the answer says whether an old broker forbids that, and
-- where a plain client was met), and for how long it would stay away (ms; 0: it
-- has something).  A replaced process says once up to which number its
-- successor may have its token holds (0: it says nothing).  Now and then a
-- heartbeat sweeps.  Brokers with little to do send nothing else, so this
-- operation is defined at once, too.
op.heartbeat = { args = 5, run = function(address, most, about, warm, given)
	local hands = "h:" .. string.match(me, "^(.*)%.")
	local has = redis.call("HMGET", guard, "a:" .. me, "watch", "swept",
		"i:" .. me, "w:" .. me, hands, "met")
	local _, stay_away, sweep, look_for_gone, note_old = beat_parts()
	if address ~= "" and has[1] ~= address then
		redis.call("HSET", guard, "a:" .. me, address)
	end
	if has[4] ~= about then
		redis.call("HSET", guard, "i:" .. me, about)
	end
	if has[5] ~= warm then
		redis.call("HSET", guard, "w:" .. me, warm)
		note_old()
	end
	if math.abs(now_ms - (tonumber(has[3] or "0") or 0)) >= 5 * (lease_ms + pad_ms) then
		redis.call("HSET", guard, "swept", now_ms)
		sweep()
		note_old()
	end
	if given ~= "0" then
		redis.call("HSET", guard, hands, me .. " " .. given .. " " .. now_ms)
	end
	local passes = look_for_gone(has[6]
		and string.match(has[6], "^%S+") ~= me
		and not string.find(about, " leaving", 1, true))
	return { "done", 0, passes == 0 and most ~= "0"
		and stay_away(has[2], address ~= "", tonumber(most)) or 0, 0,
		has[7] or "",
		passes, warm ~= "0" and redis.call("HGET", guard, "old") and 1 or 0 }
end }

-- include release.lua

-- Defines the other operations on leases.
function define_leases()

-- include lease.lua

-- Renews a share.  On a server that is not blessed the phase becomes one of
-- this epoch, unless the broker may no longer vouch for it.
local function renew_share(key, shared, token, ttl, late)
	if not blessed and not late then
		write_phase(key, phase(redis.call("GET", key)),
			math.max(redis.call("PTTL", key), tonumber(ttl)))
	end
	share(key, shared, token, ttl)
end

-- Renews a shared lease.  On a server that is not blessed it compares phases by
-- their fences: the same phase goes on, and an older one is replaced.  After
-- `by` (server time, ms; 0: no end) it writes no phase again: the broker no
-- longer vouches for it, and others would join a phase that has ended.
local function renew_shared(key, queue, shared, token, ttl, held, by)
	local value = redis.call("GET", key)
	local owner, stored = parse(value)
	local at, late = phase(value), by > 0 and now_ms > by
	if owner == token and stored >= held then
		-- It is a tombstone, or the reply to a convert was lost.
		redis.call("PEXPIRE", key, ttl)
	elseif at == held and (not blessed
			or goes_on(value) and redis.call("ZSCORE", shared, token)) then
		renew_share(key, shared, token, ttl, late)
	elseif not blessed and stored == held and not late then
		-- The other sharer saw nobody else share it, and left a
		-- tombstone.
		local ms = redis.call("PTTL", key)
		write_phase(key, held, math.max(ms, tonumber(ttl)))
		redis.call("DEL", shared)
		share(key, shared, owner, ms)
		share(key, shared, token, ttl)
	elseif blessed or value and (at or stored or held) >= held then
		return { "lost" }
	elseif late then
		return { "late" }
	else
		raise(held)
		write_phase(key, held, ttl)
		redis.call("DEL", shared)
		share(key, shared, token, ttl)
	end
	return { "renewed", 0, 0, redis.call("EXISTS", queue) }
end

-- Renews a lease.  It matches the key by the token alone, so that a renewal
-- that drew fences and whose reply was lost does no harm.  On a server that is
-- not blessed it writes the lease again over a key that is absent, or of our
-- form with a lower fence: that is older than what the broker vouches for.
op.renew = { keys = 3, args = 5,
run = function(key, queue, shared, seq, ttl, held, n, mode)
	local token = me .. "." .. seq
	held, n = tonumber(held), tonumber(n)
	if mode == "s" then
		return renew_shared(key, queue, shared, token, ttl, held, n)
	end
	local value = redis.call("GET", key)
	-- Does the work of parse(), which would take a quarter of a renewal.
	if not value or string.sub(value, 1, #token + 1) ~= token .. "|" then
		if (phase(value) or 0) > held
			and redis.call("ZSCORE", shared, token) then
			-- The reply to a convert that shared it was lost.
			renew_share(key, shared, token, ttl)
			return { "renewed", 0, 0, redis.call("EXISTS", queue) }
		end
		local _, stored = parse(value)
		-- One server of a quorum may have missed the acquire.
		if (blessed and not (quorum and not value))
			or value and (stored or phase(value) or held) >= held then
			if quorum and blessed then
				-- The other may be a mere attempt: claim the
				-- name, so that nobody gets it before us when
				-- that ends.  The claim outlasts the time to
				-- the next renewal.
				redis.call("SET", shared, token, "PX",
					math.floor(lease_ms / 2))
			end
			return { "lost" }
		end
		raise(held)
		redis.call("DEL", shared)
		write(key, token, held, ttl)
	elseif n == 0 then
		redis.call("PEXPIRE", key, ttl)
	end
	local first, count = 0, 0
	if n > 0 then
		first, count = draw(n)
		write(key, token, first, ttl)
	end
	return { "renewed", first, 0, redis.call("EXISTS", queue), "", count }
end }

-- The heir of a handover takes up its lease, but only if the key holds exactly
-- its token, or if it was let in to share, as the text `s` says.  It never
-- writes a lost lease again.
op.confirm = { keys = 3, args = 3,
run = function(key, queue, shared, seq, ttl, n)
	if not blessed then
		return { "pending" }
	end
	local token = me .. "." .. seq
	local value = redis.call("GET", key)
	local at = phase(value)
	if at then
		sharers(shared)
		if not goes_on(value)
			or not redis.call("ZSCORE", shared, token) then
			return { "lost" }
		end
		share(key, shared, token, ttl)
		return { "granted", at, 0, redis.call("EXISTS", queue), "s" }
	end
	if parse(value) ~= token then
		return { "lost" }
	end
	local first, count = draw(tonumber(n))
	write(key, token, first, ttl)
	return { "granted", first, 0, redis.call("EXISTS", queue), "", count }
end }

-- include end.lua

-- Returns a value as others may see it: that of a token hold without the
-- client's token, a phase without its epoch, and the first 200 bytes of a plain
-- client's value, which may be of any size.  The empty string means that there
-- is no key, and `-` that its value is empty, or might be taken for ours.
local function shown(value)
	local token, n, client = parse(value)
	if client then
		return token .. "|" .. string.format(whole, n) .. "|"
	elseif token then
		return value
	elseif phase(value) then
		return "@shared|" .. string.format(whole, phase(value))
	end
	local begins = string.sub(value or "", 1, 200)
	return value and (value == "" or string.find(begins, "|", 1, true)) and "-"
		or begins
end

-- Defines the operations on token holds, as far as release.lua does not carry
-- them out.
function define_holds()

-- include token.lua
-- include adopt.lua

-- Asks about a token hold (q), ends it (r) or extends it (e), if it is the one
-- meant: an extension to a time that is over ends it, as in Redis.  Or it ends
-- whatever this broker's token has, the key or a place in the queue (u).
op.token_odd = { keys = 3, args = 6,
run = function(key, queue, shared, seq, ttl, asked, how, client, most)
	local what, match, bound = string.match(how, "^(.)(.)(.)$")
	local value = redis.call("GET", key)
	local owner, _, stored = parse(value)
	if what == "q" then
		return described("value", key, value, asked, how)
	elseif what == "u" then
		leave(queue, me .. "." .. seq)
		if value and owner ~= me .. "." .. seq then
			return { "gone" }
		elseif not (blessed and pass_on(key, queue, shared)) then
			redis.call("DEL", key)
		end
		return { value and "ended" or "gone" }
	elseif not blessed then
		return { "pending" }
	elseif not value then
		return { "gone" }
	elseif not stored or not means(stored, asked, match) then
		return described("lost", key, value, asked, how)
	end
	local depth = match == "c" and depth_of(stored)
	if depth and (what == "r" or client ~= "") then
		local latch = latch_of(asked)
		local again = latch and latch == latch_of(stored)
		depth = depth + (what ~= "r" and 1 or again and 0 or -1)
		client = with_depth(stored, depth, latch)
	end
	if what == "e" or depth and depth > 0 then
		local rest = lasts_yet(key)
		local ms = lasts_anew(rest, ttl, bound, most)
		if not ms then
			return { "late" }
		elseif ms >= 0 then
			return extend(key, queue, me .. "." .. seq, value, rest, ms,
				client)
		end
	end
	local answer = described("ended", key, value, asked, how)
	took(owner, key)
	if not pass_on(key, queue, shared) then
		redis.call("DEL", key)
	end
	return answer
end }

-- Gives a key back the time that a step of the server's clock has taken from
-- it: the hold still lasts for ttl ms by the clock of the broker that looks
-- after it.
local function prolong(key, ttl)
	local rest = redis.call("PTTL", key)
	if rest >= 0 and rest < ttl + pad_ms * 3 / 4 then
		redis.call("PEXPIRE", key, ttl + pad_ms)
	end
end

-- Looks whether a token hold is still this broker's: it is known by its fence,
-- since the token in the key is new after each extension, also after one whose
-- reply was lost.  Then the answer reports what the key says.  On a server that
-- is not blessed it writes the hold again over a key that is absent or older;
-- an older state of the hold itself is such a key.  If another broker has
-- written the same hold again, the hold that lasts longer stays.
op.retain = { keys = 3, args = 4,
run = function(key, _, shared, seq, ttl, held, client)
	local value = redis.call("GET", key)
	local owner, stored, whose = parse(value)
	held = tonumber(held)
	local n = whose and stored == held
		and string.sub(owner, 1, #me + 1) == me .. "."
		and tonumber(string.sub(owner, #me + 2))
	if n and n >= tonumber(seq) then
		if n == tonumber(seq) and ttl ~= "0" then
			prolong(key, tonumber(ttl))
		end
		return { "renewed", held, lasts_yet(key), 0, whose, n }
	end
	stored = stored or phase(value) or value and held + 1 or 0
	local rest = stored == held and lasts_yet(key) or -2
	if blessed or stored > held or not n and (rest == -1
		or rest >= 0 and tonumber(ttl) > 0 and rest >= tonumber(ttl)) then
		return { "lost" }
	end
	raise(held)
	redis.call("DEL", shared)
	hold(key, me .. "." .. seq, held, ttl, client)
	return { "renewed", held, lasts_yet(key), 0, client, tonumber(seq) }
end }

-- Asks the brokers that have a name to end their leases, and says when it did,
-- because it does not mean later holders.  It ends a plain client's key and a
-- token hold itself.  It reports how many brokers listened.  After `by` (server
-- time, ms; 0: no end) it does nothing: nobody awaits the answer any more, and
-- it would hit another holder.  After the value of a phase of sharing it
-- reports the tokens of the sharers.  It ends only a hold that has the fence
-- `meant` (0: whatever there is): only its broker can compare the fence of a
-- lease's hold.
op.force = { keys = 3, args = 4,
run = function(key, queue, shared, by, who, meant, sure)
	if tonumber(by) > 0 and now_ms > tonumber(by) then
		return { "late" }
	end
	local now = clock[1] .. " " .. clock[2] .. " " .. history .. " "
	local value = redis.pcall("GET", key)
	if type(value) == "table" then
		value = "-" -- a list, or the like: a plain client's
	end
	local owner, stored, client = parse(value)
	local at = phase(value)
	if not value then
		return { "gone" }
	end
	local fence = client and stored or at or 0
	if meant ~= "0" and (client or not owner)
		and fence ~= tonumber(meant) then
		return { "lost", fence, 0, 0, shown(value) }
	end
	if client then
		took(owner, key)
	end
	if client or not owner and not at then
		if not (blessed and pass_on(key, queue, shared)) then
			redis.call("DEL", key)
		end
		return { "ended" }
	end
	if owner and sure == "0" and keeps_warm(owner) == 1
		and string.sub(owner, 1, #me + 1) ~= me .. "." then
		return { "busy", 0, 0, 1, owner }
	end
	local word = "force"
	if meant ~= "0" and owner then
		word, now = "force-if", meant .. " " .. now
	end
	local heard, others = 0, 0
	local owners = at and sharers(shared) or { owner }
	for _, token in ipairs(owners) do
		if string.sub(token, 1, #me + 1) ~= me .. "." then
			others = others + 1
			tell(token, "force-by", key, who .. " ")
			heard = heard + (tell(token, word, key, now) and 1 or 0)
		end
	end
	if at and others == 0 then
		return { "gone" }
	end
	return { "value", 0, redis.call("PTTL", key), heard, shown(value)
		.. (at and "," .. table.concat(owners, ",") or "") }
end }

end

-- Defines the operations that few calls have, and those on other objects.
function define_others()

-- Quorum: writes back the fence that was granted, if the key is still ours (the
-- second phase of an ABD register).
op.raise = { keys = 3, args = 3, run = function(key, _, _, seq, ttl, n)
	local token = me .. "." .. seq
	if parse(redis.call("GET", key)) ~= token then
		return { "lost" }
	end
	raise(tonumber(n))
	write(key, token, tonumber(n), ttl)
	return { "renewed" }
end }

-- Quorum: takes back a vote in an attempt that no majority can have granted.
-- Nobody waits for such a vote to end, so nobody is told.
op.undo = { keys = 3, args = 1, run = function(key, _, _, seq)
	if parse(redis.call("GET", key)) ~= me .. "." .. seq then
		return { "gone" }
	end
	redis.call("DEL", key)
	return { "ended" }
end }

-- Changes a lease of ours between exclusive and shared, without letting anybody
-- in between.  Idempotent.  A change to shared lets in the sharers at the head
-- of the queue.
op.convert = { keys = 3, args = 4,
run = function(key, queue, shared, seq, ttl, n, mode)
	if not blessed then
		return { "pending" }
	end
	local token = me .. "." .. seq
	local value = redis.call("GET", key)
	local at, owner = phase(value), parse(value)
	local all = at and sharers(shared) or {}
	local sharing = at and goes_on(value)
		and redis.call("ZSCORE", shared, token)
	if owner ~= token and not sharing then
		return { "lost" }
	end
	if mode == "s" then
		if sharing then
			share(key, shared, token, ttl)
		else
			begin_phase(key, queue, shared, token, ttl)
			at = top
		end
		return { "granted", at, 0, redis.call("EXISTS", queue) }
	end
	if #all > 1 then
		share(key, shared, token, ttl)
		return { "busy", 0, redis.call("PTTL", key), 1 }
	end
	local first, count = draw(tonumber(n))
	redis.call("DEL", shared)
	write(key, token, first, ttl)
	return { "granted", first, 0, redis.call("EXISTS", queue), "", count }
end }

-- Reports the value of a name, how long it lasts, and whether anybody waits.
op.status = { keys = 3, args = 0, run = function(key, queue, shared)
	local value, left_ms = present(key, shared)
	local owner, _, client = parse(value)
	return { "value", 0, left_ms, redis.call("EXISTS", queue), shown(value),
		not client and keeps_warm(owner) or 0 }
end }

-- Asks the broker that has a name to release it, if it keeps it for nobody, and
-- to say when it has (`recalled`).  Reports how long that may take at most;
-- `done`: no such broker has it by now; `gone`: that broker cannot be told.
op.recall = { keys = 3, args = 1, run = function(key, _, _, seq)
	local owner, _, client = parse(redis.call("GET", key))
	local ms = owner and not client and warm_of(owner) or 0
	if ms == 0 then
		return { "done" }
	end
	if not tell(owner, "recall", key, me .. "." .. seq .. " ") then
		return { "gone" }
	end
	return { "value", 0, ms }
end }

-- Tells the broker of a token something about the name: a word, and what stands
-- before the name.  `gone`: it does not listen.
op.tell = { keys = 3, args = 2, run = function(key, _, _, token, text)
	local word, more = string.match(text, "^(%S+) ?(.*)$")
	return { tell(token, word, key, more ~= "" and more .. " ")
		and "done" or "gone" }
end }

-- Lists all brokers that the guard knows: a line for each, with its name, how
-- many ms ago it called, its address or `-`, and what it says about itself.
op.brokers = { args = 0, run = function()
	local all, of, lines = redis.call("HGETALL", guard), {}, {}
	for i = 1, #all, 2 do
		of[all[i]] = all[i + 1]
	end
	for i = 1, #all, 2 do
		local broker = string.match(all[i], "^b:(.*)$")
		if broker then
			-- A broker that stays away is marked ahead.
			local ms = math.max(now_ms - (tonumber(all[i + 1]) or 0), 0)
			lines[#lines + 1] = string.format("%s " .. whole .. " %s %s",
				broker, ms, of["a:" .. broker] or "-",
				of["i:" .. broker] or "-")
		end
	end
	return { "value", 0, 0, 0, table.concat(lines, "\n") }
end }

-- guard.lua does all the work, before it checks who votes.
op.enlist = { args = 1, run = function() return { "done" } end }

-- Ends an unblessed epoch, if it is still the epoch that the broker has waited
-- through.
op.bless = { args = 1, run = function(epoch)
	if not blessed and epoch == pend then
		raise(seen)
		redis.call("HSET", guard, "id", replid, "at", now_ms)
		redis.call("HDEL", guard, "pend", "new")
		redis.call("HINCRBY", guard, "n", 1)
		blessed, pend = true, false
	end
	return { "done" }
end }

-- Signs off a broker that leaves this many holds behind.  If no other broker
-- can hold anything, it marks the guard idle, so that the next start need not
-- wait, and forgets the other brokers, which were silent too long.  A broker
-- that was only frozen is noted anew when it calls, and so would notice if the
-- idle data came back later.
op.idle = { args = 1, run = function(leaves)
	redis.call("HDEL", guard, "b:" .. me, "a:" .. me, "i:" .. me, "w:" .. me)
	if leaves ~= "0" then
		redis.call("HSET", guard, "left", now_ms)
	end
	local sentries = beat_parts()
	local watching, mine = sentries(redis.call("HGET", guard, "watch"))
	if mine then
		redis.call("HSET", guard, "watch", table.concat(watching, " "))
	end
	if #watching > 0 then
		-- Another sentry is there: no need to read all fields.
		return { "done" }
	end
	local all, others = redis.call("HGETALL", guard), {}
	for i = 1, #all, 2 do
		if string.find(all[i], "^[abiw]:") then
			others[#others + 1] = all[i]
		end
		if string.sub(all[i], 1, 2) == "b:"
			and not is_silent(tonumber(all[i + 1]) or 0) then
			return { "done" }
		end
	end
	if blessed then
		for _, other in ipairs(others) do
			redis.call("HDEL", guard, other)
			redis.call("HSET", guard, "left", now_ms)
		end
		redis.call("HDEL", guard, "watch", "swept", "looked", "pass",
			"old")
		redis.call("HSET", guard, "idle", replid)
	end
	return { "done" }
end }

-- include object.lua
-- include semaphore.lua
-- include latch.lua
-- include barrier.lua
-- include look.lua

end

end

	end
-- include odd.lua
end

-- include answer.lua
