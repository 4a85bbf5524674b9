-- Runs the operations of the call, each by itself: one that fails says so in
-- its own place and leaves the others alone.  Included last.

local out = { false }
local k, a = 3, 12
while a <= #ARGV do
	local o = op[ARGV[a]]
	if not o then
		define_others()
		o = op[ARGV[a]]
	end
	local ok, result
	if o.keys then
		ok, result = pcall(o.run, KEYS[k], KEYS[k + 1], KEYS[k + 2],
			ARGV[a + 1], ARGV[a + 2], ARGV[a + 3], ARGV[a + 4],
			ARGV[a + 5], ARGV[a + 6])
	else
		ok, result = pcall(o.run, ARGV[a + 1])
	end
	if not ok then
		result = { "refused", 0, 0, 0,
			type(result) == "table" and result.err or tostring(result) }
	end
	out[#out + 1] = result
	k = k + (o.keys or 0)
	a = a + 1 + o.args
end
if top > stored_top then
	redis.call("SET", fence, string.format("%.0f", top))
end
out[1] = { blessed and "blessed" or "pending", pend or "", g[6] and 1 or 0,
	top, now_ms, history }
return out
