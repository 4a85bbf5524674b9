		-- A claim that finds its name free, as nearly all do, with
		-- nobody in the queue.  The operation carries out any other.
		local first = math.max(top + 1, lowest)
		local ttl, done = ARGV[a + 2], false
		if blessed and redis.pcall("EXISTS", KEYS[k + 1]) == 0 then
			local value = me .. "." .. ARGV[a + 1] .. "|"
				.. string.format(whole, first) .. "|"
				.. ARGV[a + 3]
			if ttl == "0" then
				done = redis.pcall("SET", KEYS[k], value, "NX")
			else
				done = redis.pcall("SET", KEYS[k], value, "PX",
					ttl + ARGV[6], "NX")
			end
		end
		if done and done.ok then
			top, out[#out + 1] = first, { "granted", first }
			k, a = k + 3, a + 6
		else
			odd = true
		end
