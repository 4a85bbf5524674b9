-- Ends of leases in a row.  Both scripts have them.

-- Returns the values of keys, read one by one if the ACL forbids MGET.
local function look(keys)
	local values = #keys > 1 and redis.pcall("MGET", unpack(keys)) or {}
	for i = 1, (#keys == 1 or values.err) and #keys or 0 do
		local value = redis.pcall("GET", keys[i])
		values[i] = type(value) == "string" and value
	end
	return values
end

-- Ends leases in a row: exclusive ones, without a tombstone, for which the
-- broker does not get in line again.  A number in the answer stands for that
-- many whose key held their token and for which nobody waits.  `end` carries
-- out any other by itself.
op.drop = { many = true, run = function(k, a)
	local find, pcall = string.find, redis.pcall
	local count, keys, queues = row(k, a)
	local values, mine, gone = look(keys), me .. ".", {}
	local waiting = pcall("EXISTS", unpack(queues)) ~= 0
	for i = 1, count do
		local value = values[i]
		if value and find(value, mine .. ARGV[a + i - 1] .. "|", 1, true) == 1
			and not find(value, "|", #mine + #ARGV[a + i - 1] + 2, true)
			and not (waiting and pcall("EXISTS", queues[i]) ~= 0) then
			gone[#gone + 1], values[i] = keys[i], true
		end
	end
	if quorum or #gone > 0 and type(pcall("DEL", unpack(gone))) ~= "number" then
		gone = {}
	end
	local ended = 0
	for i = 1, count do
		if #gone > 0 and values[i] == true then
			ended = ended + 1
		else
			if ended > 0 then
				out[#out + 1], ended = ended, 0
			end
			out[#out + 1] = attempt(need("end").run, keys[i], queues[i],
				KEYS[k + 3 * i - 1], ARGV[a + i - 1], "0", "0")
		end
	end
	if ended > 0 then
		out[#out + 1] = ended
	end
	return k + 3 * count, a + count
end }
