		-- Ends leases in a row: exclusive ones, without a tombstone,
		-- for which the broker does not get in line again.  A number in
		-- the answer stands for that many whose key held their token
		-- and for which nobody waits.  `end` carries out any other by
		-- itself.
		local find, pcall = string.find, redis.pcall
		local keys, queues, count, arg = {}, {}, 0, ARGV[a + 1]
		while arg and string.byte(arg) <= 57 do -- a digit
			count = count + 1
			keys[count] = KEYS[k + 3 * count - 3]
			queues[count] = KEYS[k + 3 * count - 2]
			arg = ARGV[a + 1 + count]
		end
		local values, mine, gone = look(keys), me .. ".", {}
		local waiting = pcall("EXISTS", unpack(queues)) ~= 0
		for i = 1, count do
			local value, token = values[i], mine .. ARGV[a + i] .. "|"
			if value and find(value, token, 1, true) == 1
				and not find(value, "|", #token + 1, true)
				and not (waiting
					and pcall("EXISTS", queues[i]) ~= 0) then
				gone[#gone + 1], values[i] = keys[i], true
			end
		end
		if quorum or #gone > 0
			and type(pcall("DEL", unpack(gone))) ~= "number" then
			gone = {}
		end
		local ended
		for i = 1, count do
			if #gone > 0 and values[i] == true then
				ended = ended or #out + 1
				out[ended] = (out[ended] or 0) + 1
			else
				ended, odd = nil, odd or {}
				out[#out + 1] = false
				odd[#odd + 1] = { #out, "end", keys[i], queues[i],
					KEYS[k + 3 * i - 1], ARGV[a + i], "0",
					"0" }
			end
		end
		k, a = k + 3 * count, a + 1 + count
