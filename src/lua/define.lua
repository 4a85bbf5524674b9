-- What operations have in common.  Both scripts include it where the first one
-- comes that is no row, or that a row could not do.

op = {}

local pad_ms, prefix, cut = tonumber(ARGV[6]), ARGV[9], tonumber(ARGV[10])

local function raise(n)
	if n > top then
		top = n
	end
end

-- Draws n fences that nobody else gets, and returns the first.
local function draw(n)
	local first = math.max(top + 1, lowest)
	raise(first + n - 1)
	return first
end

-- Runs one operation, protected: if it fails, its own answer says so, and the
-- others are unaffected.
function attempt(...)
	local ok, result = pcall(...)
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
