		-- Acquires exclusive leases in a row: nearly all find their
		-- names free.  Grants that follow each other have one answer:
		-- their first fence, their number, and the fences of each: n,
		-- or as many as there are before `ahead`.  `acquire` carries
		-- out any other by itself.
		local ttl, n, how = ARGV[a + 1], tonumber(ARGV[a + 2]), ARGV[a + 3]
		local queues, count, arg = {}, 0, ARGV[a + 4]
		while arg and string.byte(arg) <= 57 do -- a digit
			count = count + 1
			queues[count] = KEYS[k + 3 * count - 2]
			arg = ARGV[a + 4 + count]
		end
		local free = blessed and not quorum
			and redis.pcall("EXISTS", unpack(queues)) == 0
		local first = math.max(top + 1, lowest)
		if free then
			n = math.max(1,
				math.min(n, math.floor((ahead - first) / count)))
			top = first + count * n - 1
		end
		local grants
		for i = 1, count do
			local seq = ARGV[a + 3 + i]
			local done = free and redis.pcall("SET", KEYS[k],
				me .. "." .. seq .. "|"
					.. string.format(whole, first),
				"PX", ttl, "NX")
			if not done or not done.ok then
				grants, odd = nil, odd or {}
				out[#out + 1] = false
				odd[#odd + 1] = { #out, "acquire", KEYS[k],
					KEYS[k + 1], KEYS[k + 2], seq, ttl, n, how,
					"x" }
			elseif grants then
				grants[3] = grants[3] + 1
			else
				grants = { "grants", first, 1, n }
				out[#out + 1] = grants
			end
			first, k = first + n, k + 3
		end
		a = a + 4 + count
