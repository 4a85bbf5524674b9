"""THE table of lock libraries that the tests run: language, library, version, packages, program, and
what is in its environment. The newest version of a library is its last row."""

ROWS = [
    ("python", "redis-py", "4.6", ["redis==4.6.0"], "redis_py.py", {}),
    ("python", "redis-py", "5", ["redis==5.3.1"], "redis_py.py", {}),
    ("python", "redis-py", "6", ["redis==6.4.0"], "redis_py.py", {}),
    ("python", "redis-py", "newest", ["redis"], "redis_py.py", {}),
    ("python", "python-redis-lock", "3.5", ["python-redis-lock==3.5.0", "redis==4.6.0"],
     "python_redis_lock.py", {}),
    ("python", "python-redis-lock", "newest", ["python-redis-lock"], "python_redis_lock.py", {}),
    ("python", "pottery", "newest", ["pottery"], "pottery_redlock.py", {}),
    ("python", "redlock-py", "newest", ["redlock-py", "redis==4.6.0"], "redlock_py.py", {}),
    ("node", "redlock", "3.1", ["redlock@3.1.2", "ioredis@5"], "redlock_4.js", {}),
    ("node", "redlock", "4.0", ["redlock@4.0.0", "ioredis@5"], "redlock_4.js", {}),
    ("node", "redlock", "4.2", ["redlock@4.2.0", "ioredis@5"], "redlock_4.js", {}),
    ("node", "redlock", "5", ["redlock@5.0.0-beta.2", "ioredis@5"], "redlock_5.js", {}),
    ("node", "@sesamecare-oss/redlock", "1.4", ["@sesamecare-oss/redlock@1.4.0", "ioredis@5"],
     "sesamecare_redlock.js", {}),
    ("node", "redis-semaphore", "4.1", ["redis-semaphore@4.1.0", "ioredis@4"],
     "redis_semaphore.js", {}),
    ("node", "redis-semaphore", "newest", ["redis-semaphore", "ioredis@5"],
     "redis_semaphore.js", {}),
    ("node", "ioredis", "5", ["ioredis@5"], "clients.js", {"CLIENT": "ioredis"}),
    ("node", "node-redis", "4", ["redis@4"], "clients.js", {"CLIENT": "redis"}),
    ("node", "node-redis", "5", ["redis@5"], "clients.js", {"CLIENT": "redis"}),
]
