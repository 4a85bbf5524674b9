-- Token holds (token.lua) in the usual case: a client extends a hold that this
-- broker looks after, or hands it over, and no other broker waits for it in
-- Redis.  That needs none of the functions of other operations on token holds.

function define_usual()

-- Returns an operation for the cases that the usual operation does not cover.
local function odd(word)
	if not op[word] then
		define_leases()
		define_holds()
	end
	return op[word]
end

-- Returns the fence of the token hold that a key has, if it is of this broker
-- and has this token and user; else nil.
local function fence_of(key, asked)
	local value = redis.call("GET", key)
	if value and string.find(value, me .. ".", 1, true) == 1 then
		local fence, client =
			string.match(value, "^%d+|(%d+)|(.*)$", #me + 2)
		return client == asked and checked(fence) and fence or nil
	end
end

local function keep_hold(key, seq, fence, client, ttl)
	local value = me .. "." .. seq .. "|" .. fence .. "|" .. client
	if ttl == "0" then
		redis.call("SET", key, value)
	else
		redis.call("SET", key, value, "PX", ttl + pad_ms)
	end
end

op.token = { keys = 3, args = 6,
run = function(key, queue, shared, seq, ttl, asked, how, client, most)
	local fence = blessed and (how == "exr" or how == "ecr")
		and client == "" and tonumber(ttl) >= 0 and fence_of(key, asked)
	if fence and redis.call("EXISTS", queue) == 0 then
		keep_hold(key, seq, fence, asked, ttl)
		return { "renewed", tonumber(fence),
			ttl ~= "0" and tonumber(ttl) or -1, 0, asked }
	end
	return odd("token_odd").run(key, queue, shared, seq, ttl, asked, how,
		client, most)
end }

-- Ends a token hold and gives the name at once to the next token that waits at
-- this broker, if nobody else waits for it: the queue is empty, or has only the
-- broker's own place (core/parts/token/poll.c), which leaves if no token is
-- behind the heir.  If other brokers wait, the name is theirs.
op.pass = { keys = 3, args = 6,
run = function(key, queue, shared, seq, ttl, asked, place, heir, behind)
	local fence = blessed and fence_of(key, asked)
	local waiting = fence and redis.call("LRANGE", queue, 0, 1)
	if not fence or waiting[2]
		or waiting[1] and waiting[1] ~= me .. "." .. place then
		return odd("token_odd").run(key, queue, shared, "0", "0",
			asked, "rxr", "", "0")
	end
	local first, stays = draw(1), waiting[1] and behind ~= "0"
	if waiting[1] and not stays then
		redis.call("DEL", queue)
	end
	keep_hold(key, seq, string.format(whole, first), heir, ttl)
	return { "granted", first, 0, stays and 1 or 0, "",
		tonumber(fence) }
end }

end
