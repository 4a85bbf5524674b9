-- Answers the call.  Both scripts end with it.

if top > stored_top then
	redis.call("SET", fence, string.format(whole, top))
end
out[1] = { blessed and "blessed" or "pending", pend or "", new and 1 or 0,
	top, now_ms, history, node, set, open }
return out
