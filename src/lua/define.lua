-- What operations have in common.  Both scripts include it at the first
-- operation that is no row, or that a row could not do.

op = {}

local pad_ms, prefix, cut = tonumber(ARGV[6]), ARGV[9], tonumber(ARGV[10])

local function raise(n)
	if n > top then
		top = n
	end
end

-- Draws fences that no other broker gets.  Returns the first, and how many: n, or
-- as many as there are before `ahead`.
local function draw(n)
	local first = math.max(top + 1, lowest)
	n = math.max(1, math.min(n, ahead - first))
	raise(first + n - 1)
	return first, n
end

-- Returns the number of a text if it may be a fence; else nil, and notes it.  A
-- number below 2^52 may always be a fence, and the counter goes on from it.  A
-- number from 2^52 on would soon leave no room for others: it must be less than
-- 2^32 above the highest fence that the broker was told.
local odd_fence
local function checked(text)
	local n = tonumber(text)
	if n > 0 and (n < 2 ^ 52 or n - seen < 2 ^ 32) then
		return n
	end
	odd_fence = text
end

-- Reports to the broker the first number that was no fence, and its key.
local function tell_odd(key)
	if odd_fence and not spoilt then
		spoilt = key .. " " .. string.sub(odd_fence, 1, 32)
	end
	odd_fence = nil
end

-- A plain client has the name, and would find others warm: marks the guard, at
-- most once a minute.  Each call of any broker reports when that was, for as
-- long as it matters to any broker (`sweep()` in keep.lua).  In a quorum
-- nothing is warm, and nobody else uses a server that its broker has started.
local function met_plain(key)
	local age_ms = math.abs(now_ms - tonumber(notes or "0"))
	if ARGV[11] ~= "" or age_ms < 60000 then
		return
	end
	local since = age_ms < 3660000
		and string.match(redis.call("HGET", guard, "met") or "", "^%d+")
	notes = string.format(whole, now_ms)
	redis.call("HSET", guard, "plain", notes, "met",
		(since or notes) .. " " .. string.sub(key, cut + 1))
end

-- Runs one operation, protected: if it fails, its own answer says so, and the
-- others are unaffected.
function attempt(run, key, ...)
	local ok, result = pcall(run, key, ...)
	tell_odd(key)
	if not ok then
		result = { "refused", 0, 0, 0,
			type(result) == "table" and result.err or tostring(result) }
	end
	return result
end

-- Each defines some of the operations.
local define_usual, define_leases, define_holds, define_others

-- Returns the operation of that name.
function need(word)
	if define_usual and (word == "token" or word == "pass") then
		define_usual()
		return op[word]
	end
	if not op[word] then
		define_leases()
	end
	if not op[word] then
		define_others()
	end
	if not op[word] then
		define_holds()
	end
	return op[word]
end
