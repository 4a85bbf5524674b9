-- A claim that finds its name free, as nearly all do, with nobody in the queue.
-- It needs none of the functions that any other claim needs.

local function define_usual()

-- Returns an operation that carries out whatever the usual one does not.
local function odd(word)
	if not op[word] then
		define_leases()
		define_holds()
	end
	return op[word]
end

op.claim = { keys = 3, args = 5,
run = function(key, queue, shared, seq, ttl, client, how, asked)
	local before, first, done = top, 0, false
	if blessed and redis.call("EXISTS", queue) == 0 then
		first = draw(1)
		local value = me .. "." .. seq .. "|"
			.. string.format(whole, first) .. "|" .. client
		if ttl == "0" then
			done = redis.call("SET", key, value, "NX")
		else
			done = redis.call("SET", key, value, "PX", ttl + pad_ms,
				"NX")
		end
	end
	if done then
		return { "granted", first }
	end
	-- Nobody has the fence that was drawn.
	top = before
	return odd("claim_odd").run(key, queue, shared, seq, ttl, client, how,
		asked)
end }

end
