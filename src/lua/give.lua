		-- The usual end of a token hold of this broker: by its token,
		-- with nobody in the queue.  The operation carries out others.
		local value = blessed and string.find(ARGV[a + 4], "^r[xc]r$")
			and redis.pcall("GET", KEYS[k])
		local n, client =
			string.match(tostring(value), "^[^|]+|(%d+)|(.*)$")
		n = client == ARGV[a + 3] and tonumber(n) or 0
		if n > 0 and string.find(value, me .. ".", 1, true) == 1
			and (n < 2 ^ 52 or n - seen < 2 ^ 32)
			and redis.pcall("EXISTS", KEYS[k + 1]) == 0
			and redis.pcall("DEL", KEYS[k]) == 1 then
			out[#out + 1] = { "ended", n, 0, 0, client, 1, 3 }
			k, a = k + 3, a + 7
		else
			odd = true
		end
