-- Returns the values of keys, read one by one if the ACL forbids MGET.
local function look(keys)
	local values = #keys > 1 and redis.pcall("MGET", unpack(keys)) or {}
	for i = 1, (#keys == 1 or values.err) and #keys or 0 do
		local value = redis.pcall("GET", keys[i])
		values[i] = type(value) == "string" and value
	end
	return values
end
