		-- Renews leases in a row: exclusive ones, with one ttl in
		-- common, that draw no fences.  Each has only its seq, and two
		-- keys: its name and its queue.  One command reads all values,
		-- and one asks whether anybody waits for any of the names.  A
		-- number in the answer stands for that many renewals that went
		-- as nearly all do.  A renewal that needs more than this is
		-- answered `again`, and the broker sends it by itself.
		local find, pcall = string.find, redis.pcall
		local keys, queues, n, ttl = {}, {}, 0, ARGV[a + 1]
		while tonumber(ARGV[a + n + 2]) do
			n = n + 1
			keys[n], queues[n] = KEYS[k], KEYS[k + 1]
			k = k + 2
		end
		local values, mine, kept = look(keys), me .. ".", nil
		local waiting = redis.call("EXISTS", unpack(queues)) > 0
		for i = 1, n do
			local value, answer = values[i], nil
			if not value
				or find(value, mine .. ARGV[a + 1 + i] .. "|", 1,
					true) ~= 1
				or pcall("PEXPIRE", keys[i], ttl) ~= 1 then
				answer = { "again" }
			elseif waiting
				and redis.call("EXISTS", queues[i]) == 1 then
				answer = { "renewed", 0, 0, 1 }
			end
			if answer then
				out[#out + 1], kept = answer, nil
			else
				kept = kept or #out + 1
				out[kept] = (out[kept] or 0) + 1
			end
		end
		a = a + n + 2
