# tests/libraries: real lock libraries, with redis-server and with a broker; see
# tests/libraries/run.
EXTRA_DIST += \
	tests/libraries/faults.py \
	tests/libraries/install.py \
	tests/libraries/pinned \
	tests/libraries/programs/Common.java \
	tests/libraries/programs/JedisLocks.java \
	tests/libraries/programs/JedisOld.java \
	tests/libraries/programs/LettuceLocks.java \
	tests/libraries/programs/RedissonLocks.java \
	tests/libraries/programs/ShedJedis.java \
	tests/libraries/programs/ShedLocks.java \
	tests/libraries/programs/ShedSpring.java \
	tests/libraries/programs/SpringLocks.java \
	tests/libraries/programs/clients.js \
	tests/libraries/programs/common.go \
	tests/libraries/programs/common.js \
	tests/libraries/programs/common.py \
	tests/libraries/programs/common.rs \
	tests/libraries/programs/gozero.go \
	tests/libraries/programs/pottery_redlock.py \
	tests/libraries/programs/python_redis_lock.py \
	tests/libraries/programs/redis_py.py \
	tests/libraries/programs/redis_rs.rs \
	tests/libraries/programs/redis_semaphore.js \
	tests/libraries/programs/redislock.go \
	tests/libraries/programs/redlock_4.js \
	tests/libraries/programs/redlock_5.js \
	tests/libraries/programs/redlock_py.py \
	tests/libraries/programs/redsync.go \
	tests/libraries/programs/rueidislock.go \
	tests/libraries/programs/sesamecare_redlock.js \
	tests/libraries/run \
	tests/libraries/table.py
