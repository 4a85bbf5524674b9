-- Runs the operations of the call and answers it.  Every script includes this
-- file last.

need = function(word)
	if word == "claim" or word == "token" or word == "pass" then
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

local k, a = 3, 12 -- where keys and arguments of the next operation begin

while a <= #ARGV do
	local o = op[ARGV[a]] or need(ARGV[a])
	if o.many then
		k, a = o.run(k, a + 1)
	elseif o.keys then
		out[#out + 1] = attempt(o.run, KEYS[k], KEYS[k + 1],
			KEYS[k + 2], ARGV[a + 1], ARGV[a + 2], ARGV[a + 3],
			ARGV[a + 4], ARGV[a + 5], ARGV[a + 6])
		k, a = k + o.keys, a + 1 + o.args
	else
		out[#out + 1] = attempt(o.run, ARGV[a + 1], ARGV[a + 2],
			ARGV[a + 3], ARGV[a + 4], ARGV[a + 5])
		a = a + 1 + o.args
	end
end
if top > stored_top then
	redis.call("SET", fence, string.format(whole, top))
end
out[1] = { blessed and "blessed" or "pending", pend or "", new and 1 or 0,
	top, now_ms, history, node, set, open }
return out
