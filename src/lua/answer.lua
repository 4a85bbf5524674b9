-- Answers the call.  Both scripts end with it.

if top > stored_top then
	redis.call("SET", fence, string.format(whole, top))
end
out[1] = { blessed and "blessed" or "pending", pend or "", new and 1 or 0,
	top, now_ms, history, node, set, open }
if spoilt or top >= 2 ^ 52 or notes then
	local head = out[1]
	head[7], head[8], head[9] = node or "", set or "", open or ""
	head[10], head[11], head[12] = 0, spoilt or "", math.max(stored_top, 0)
	head[13] = notes
end
return out
