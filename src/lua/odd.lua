	-- Runs an operation that is no row, or that a row has left.  It is the
	-- end of the loop.
	if odd == true then
		local o = op[word] or need(word)
		if o.many then
			k, a = o.run(k, a + 1)
		elseif o.keys then
			out[#out + 1] = attempt(o.run, KEYS[k], KEYS[k + 1],
				KEYS[k + 2], ARGV[a + 1], ARGV[a + 2],
				ARGV[a + 3], ARGV[a + 4], ARGV[a + 5],
				ARGV[a + 6], ARGV[a + 7])
			k, a = k + o.keys, a + 1 + o.args
		else
			out[#out + 1] = attempt(o.run, ARGV[a + 1], ARGV[a + 2],
				ARGV[a + 3], ARGV[a + 4], ARGV[a + 5])
			a = a + 1 + o.args
		end
	elseif odd then
		for _, o in ipairs(odd) do
			out[o[1]] = attempt(need(o[2]).run, unpack(o, 3))
		end
	end
