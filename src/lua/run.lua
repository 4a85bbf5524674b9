-- Runs the operations of the call, or what is left of them.  Included last.

while next_arg <= #ARGV do
	local k, a = next_key, next_arg
	local o = op[ARGV[a]]
	if not o then
		define_others()
		o = op[ARGV[a]]
	end
	if o.keys then
		out[#out + 1] = attempt(o.run, KEYS[k], KEYS[k + 1],
			KEYS[k + 2], ARGV[a + 1], ARGV[a + 2], ARGV[a + 3],
			ARGV[a + 4], ARGV[a + 5], ARGV[a + 6])
	else
		out[#out + 1] = attempt(o.run, ARGV[a + 1])
	end
	next_key = k + (o.keys or 0)
	next_arg = a + 1 + o.args
end
if top > stored_top then
	redis.call("SET", fence, string.format("%.0f", top))
end
out[1] = { blessed and "blessed" or "pending", pend or "", g[6] and 1 or 0,
	top, now_ms, history }
return out
