-- Token holds ("Lock libraries" in lockbroker-resp(7)): keys with a third
-- field, the client's token, and a fourth if the client has a user, both with
-- %XX for bytes that could be mistaken.  No broker vouches for such a key, so
-- any broker may end it or take it over; TOKEN says which broker looks after
-- it: that broker ends it at its bound, and writes it again if Redis forgets
-- it.
--
-- The key outlives the bound that the client has asked for by a pad, which
-- makes up for steps of the server's clock, as the pad of a lease does.  So the
-- key ends by itself only where no broker has ended it.

-- The largest integer of a Lua number: no bound is later than that.
local most_ms = 2 ^ 53 - 1

-- Writes a token hold; a ttl of 0 means that it never ends.
local function hold(key, token, n, ttl, client)
	local value = token .. "|" .. string.format(whole, n) .. "|" .. client
	if tonumber(ttl) == 0 then
		redis.call("SET", key, value)
	else
		redis.call("SET", key, value, "PX", ttl + pad_ms)
	end
end

-- Returns for how long (ms) a token hold still lasts; -1: it has no bound. 0:
-- it is over, and its broker, if that is still there, is about to end it.
local function lasts_yet(key)
	local rest = redis.call("PTTL", key)
	return rest < 0 and rest or math.max(0, rest - pad_ms)
end

local function client_of(text)
	return string.match(text, "^([^|]*)|?(.*)$")
end

-- Returns the depth of a hold that is counted (%xDEPTH behind its token), and
-- its token; nil if it is not counted.
local function depth_of(token)
	local plain, depth = string.match(token, "^([^|]*)%%x(%d+)")
	return tonumber(depth), plain
end

-- Returns the latch of the latest request that has given back a level (%yLATCH
-- behind the depth), or nil.
local function latch_of(stored)
	return string.match(stored, "^[^|]*%%x%d+%%y(%x+)")
end

-- Returns a stored hold with that depth, and that latch; if the latch is nil,
-- with the latch that the hold has.
local function with_depth(stored, depth, latch)
	local plain, was, user =
		string.match(stored, "^([^|]*)%%x%d+([^|]*)(.*)$")
	return plain .. "%x" .. string.format(whole, depth)
		.. (latch and "%y" .. latch or was) .. user
end

-- Does a stored hold match the requested hold?  Its user must be the same, and
-- its token equal (x), begin with the requested token (p), differ (n), or be
-- any (a); or both are counted, and of one token (c).
local function means(stored, asked, how)
	local token, user = client_of(stored)
	local wanted, who = client_of(asked)
	if user ~= who then
		return false
	elseif how == "c" then
		local depth, plain = depth_of(token)
		local _, other = depth_of(wanted)
		return depth ~= nil and plain == other
	elseif how == "x" then
		return token == wanted
	elseif how == "p" then
		return string.sub(token, 1, #wanted) == wanted
			and not depth_of(token)
	elseif how == "n" then
		return token ~= wanted
	end
	return how == "a"
end

-- Returns an answer that describes a name: free (0), a token hold (1), a
-- session's (2), or a plain client's (3); then whether it is the requested hold
-- (1), and whether it is of the same user (2).  A session's name may be kept
-- for nobody: its fourth number is 1 then.
local function described(status, key, value, asked, how)
	local owner, fence, client = parse(value)
	local kind = client and 1 or (owner or phase(value)) and 2
		or value and 3 or 0
	if kind == 3 then
		met_plain(key)
	end
	local rest = kind == 1 and lasts_yet(key)
		or kind == 2 and -1 or redis.call("PTTL", key)
	return { status, fence or phase(value) or 0, rest,
		kind == 2 and keeps_warm(owner) or 0,
		client or owner or phase(value) and "@shared"
			or string.sub(value or "", 1, 200), kind,
		client and (means(client, asked, string.sub(how, 2, 2)) and 1 or 0)
			+ (means(client, asked, "a") and 2 or 0) or 0 }
end

-- Tells another broker that looked after a hold that it no longer does.
local function took(token, key)
	if string.sub(token, 1, #me + 1) ~= me .. "." then
		tell(token, "took", key)
	end
end

-- Tells the first in the queue in how many ms the key of a token hold that
-- lasts for `ms` ends: that may be sooner than it was told before.
local function tell_end(key, queue, ms)
	local first = entry(redis.call("LINDEX", queue, 0) or nil)
	if first and ms > 0 then
		tell(first, "ends", key, string.format(whole, ms + pad_ms) .. " ")
	end
end

-- Returns how many ms from now a hold with a changed bound is to last: 0 if
-- without end, -1 if it is over; nil if the hold stays as it is.  `bound` says
-- on which terms: the end is set to ttl ms from now (r), only if there is a
-- bound (b) or none (u), or if the end moves later (l) or earlier (s) by that;
-- or it is put off by ttl ms (a), but not beyond `most` ms from now (0: no
-- limit).  A ttl of 0 removes the bound; a bound with a ttl below 0 was over
-- before.
local function lasts_anew(rest, ttl, bound, most)
	local ms = tonumber(ttl)
	if bound == "a" then
		ms = math.min(rest + ms, tonumber(most) > 0 and tonumber(most)
			or most_ms)
		ms = ms > 0 and ms or -1
	end
	if rest < 0 and (bound == "a" or bound == "b" or bound == "l")
		or rest >= 0 and bound == "u"
		or bound == "l" and ms ~= 0 and ms <= rest
		or bound == "s" and rest >= 0 and (ms == 0 or ms >= rest) then
		return nil
	end
	return ms
end

-- Gives a hold a new bound, and a new token of this broker; its fence stays.
local function extend(key, queue, token, value, rest, ms, client)
	local owner, at, stored = parse(value)
	client = client ~= "" and client or stored
	took(owner, key)
	hold(key, token, at, string.format(whole, ms), client)
	if rest < 0 or ms < rest then
		tell_end(key, queue, ms)
	end
	return { "renewed", at, ms > 0 and ms or -1, 0, client }
end
