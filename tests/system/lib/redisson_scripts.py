"""The scripts of Redisson's getFairLock(), by what they do and by the release that brought them: the
sha1 that Redisson sends, and a text that does the same, put together from the parts that the
releases have in common."""


def _stale(now, careful):
    """Takes those off the queue whose time is over by the client's clock."""
    score = 'redis.call("zscore", KEYS[3], firstThreadId2)'
    return f"""
while true do
local firstThreadId2 = redis.call("lindex", KEYS[2], 0)
if firstThreadId2 == false then break end
local timeout = {score if careful else f"tonumber({score})"}
if {"timeout ~= false and tonumber(timeout)" if careful else "timeout"} <= tonumber({now}) then
redis.call("zrem", KEYS[3], firstThreadId2)
redis.call("lpop", KEYS[2])
else break end
end
"""


def _try(wait, brackets):
    """Takes a free lock if nobody comes before, or once more."""
    has = 'redis.call("hexists", KEYS[1], ARGV[2]) == 1'
    return f"""
if (redis.call("exists", KEYS[1]) == 0) and ((redis.call("exists", KEYS[2]) == 0)
or (redis.call("lindex", KEYS[2], 0) == ARGV[2])) then
redis.call("lpop", KEYS[2])
redis.call("zrem", KEYS[3], ARGV[2])
local keys = redis.call("zrange", KEYS[3], 0, -1)
for i = 1, #keys, 1 do redis.call("zincrby", KEYS[3], -tonumber({wait}), keys[i]) end
redis.call("hset", KEYS[1], ARGV[2], 1)
redis.call("pexpire", KEYS[1], ARGV[1])
return nil
end
if {f"({has})" if brackets else has} then
redis.call("hincrby", KEYS[1], ARGV[2], 1)
redis.call("pexpire", KEYS[1], ARGV[1])
return nil
end
"""


def _queue(left, sure):
    """Gets into the queue."""
    of_last = 'redis.call("zscore", KEYS[3], lastThreadId)'
    return f"""
local timeout = redis.call("zscore", KEYS[3], ARGV[2])
if timeout ~= false then {left} end
local lastThreadId = redis.call("lindex", KEYS[2], -1)
local ttl
if lastThreadId ~= false and lastThreadId ~= ARGV[2]{f" and {of_last} ~= false" if sure else ""} then
ttl = tonumber({of_last}) - tonumber(ARGV[4])
else ttl = redis.call("pttl", KEYS[1]) end
local timeout = ttl + tonumber(ARGV[3]) + tonumber(ARGV[4])
if redis.call("zadd", KEYS[3], timeout, ARGV[2]) == 1 then
redis.call("rpush", KEYS[2], ARGV[2])
end
return ttl
"""


def _tell(command):
    """Tells the first one in the queue."""
    return f"""
local nextThreadId = redis.call("lindex", KEYS[2], 0)
if nextThreadId ~= false then
redis.call({command}, KEYS[4] .. ":" .. nextThreadId, ARGV[1])
end
"""


def _unlock(careful, latch, command):
    def note(answer):
        return f'redis.call("set", KEYS[5], {answer}, "px", ARGV[6])' if latch else ""

    before = ('local val = redis.call("get", KEYS[5]) if val ~= false then return tonumber(val) end'
              if latch else "")
    return f"""
{before}
{_stale("ARGV[4]", careful)}
if (redis.call("exists", KEYS[1]) == 0) then
{_tell(command)}
{note(1)}
return 1
end
if (redis.call("hexists", KEYS[1], ARGV[3]) == 0) then return nil end
local counter = redis.call("hincrby", KEYS[1], ARGV[3], -1)
if (counter > 0) then
redis.call("pexpire", KEYS[1], ARGV[2])
{note(0)}
return 0
end
redis.call("del", KEYS[1])
{note(1)}
{_tell(command)}
return 1
"""


def _force(careful, command):
    return f"""
{_stale("ARGV[2]", careful)}
if (redis.call("del", KEYS[1]) == 1) then
{_tell(command)}
return 1
end
return 0
"""


_LEFT = 'local ttl = redis.call("pttl", KEYS[1]) return math.max(0, ttl)'
_LEFT_3_11 = "return timeout - tonumber(ARGV[3]) - tonumber(ARGV[4])"

FAIR = {
    "FAIR_TAKE": ("8f6ed299ffd259f0539c20f89253998c0777ea75",
                  _stale("ARGV[4]", True) + _try("ARGV[3]", False) + _queue(_LEFT, True)),
    "FAIR_TAKE_3_32": ("929defe0321e0a4c943b4244951d3a730b6eaabc",
                       _stale("ARGV[4]", True) + _try("ARGV[3]", False) + _queue(_LEFT, False)),
    "FAIR_TAKE_3_31": ("f453a73adbe05f097ff2810e5e0c0489a9350076",
                       _stale("ARGV[4]", True) + _try("ARGV[3]", False)
                       + _queue(_LEFT_3_11, False)),
    "FAIR_TAKE_3_11": ("762bfafa6be221431a0b668685dd15c926483619",
                       _stale("ARGV[4]", False) + _try("ARGV[3]", False)
                       + _queue(_LEFT_3_11, False)),
    "FAIR_TRY": ("d20501c26a30adf6fb0fe9883bbbcc497e6157e2",
                 _stale("ARGV[3]", True) + _try("ARGV[4]", True) + "return 1"),
    "FAIR_TRY_3_11": ("aa0a28d2eb7cbeb50151315a58eb75302d8dfa40",
                      _stale("ARGV[3]", False) + _try("ARGV[4]", True) + "return 1"),
    "FAIR_UNLOCK": ("367f80bd2e300e411fb0936d9b601e5bcb3fd4b6", _unlock(True, True, "ARGV[5]")),
    "FAIR_UNLOCK_3_24": ("ca303f8587d0942f8a0021f62338626ca4dd0118",
                         _unlock(False, True, "ARGV[5]")),
    "FAIR_UNLOCK_3_22": ("14f85250fb2a386500bf8e4b25a8e95db140ff0c",
                         _unlock(False, False, "ARGV[5]")),
    "FAIR_UNLOCK_3_3": ("35d32367b21753c39b55dc64d1906fee627cc9a8",
                        _unlock(False, False, '"publish"')),
    "FAIR_FORCE": ("71ed11d4e4818119ac560b3d670a7f08256afc46", _force(True, "ARGV[3]")),
    "FAIR_FORCE_3_22": ("047c11d7fec40d0102fe9903ff1e19e9a1dec610", _force(False, "ARGV[3]")),
    "FAIR_FORCE_3_2": ("95cdf4b03f82c82edf987c7d216b4b67d861b14f", _force(False, '"publish"')),
    "FAIR_LEAVE": ("d1ddef65ad80886b5d36e023c99930044ddd653a", """
local queue = redis.call("lrange", KEYS[1], 0, -1)
local i = 1
while i <= #queue and queue[i] ~= ARGV[1] do i = i + 1 end
i = i + 1
while i <= #queue do
redis.call("zincrby", KEYS[2], -tonumber(ARGV[2]), queue[i])
i = i + 1
end
redis.call("zrem", KEYS[2], ARGV[1])
redis.call("lrem", KEYS[1], 0, ARGV[1])
"""),
}
