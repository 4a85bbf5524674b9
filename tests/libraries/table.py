"""THE table of lock libraries that the tests run: language, library, version, packages, program, and
what is in its environment. The newest version of a library and program is its last row. The lock
files in `pinned` are made from it: tests/libraries/run --pin."""

from collections import namedtuple

Row = namedtuple("Row", "language library version packages program env hunted",
                 defaults=({}, True))

SLF4J = "org.slf4j:slf4j-nop:"


def name_of(row):
    return " ".join([row.language, row.library, row.version, *filter(None, row.env.values())])


def redisson(version, slf4j):
    return Row("java", "Redisson", version, [f"org.redisson:redisson:{version}", SLF4J + slf4j],
               "RedissonLocks.java")


def spring(version, lettuce, slf4j):
    packages = [f"org.springframework.integration:spring-integration-redis:{version}",
                f"io.lettuce:lettuce-core:{lettuce}", SLF4J + slf4j]
    return [Row("java", "Spring Integration", version, packages, "SpringLocks.java", {"KIND": kind})
            for kind in ("SPIN_LOCK", "PUB_SUB_LOCK")]


def shedlock(provider, version, program, *packages):
    return Row("java", f"ShedLock {provider}", version, [
        f"net.javacrumbs.shedlock:shedlock-provider-redis-{provider}:{version}", *packages,
        SLF4J + "2.0.17"], program)


PYTHON = [
    Row("python", "redis-py", "4.6", ["redis==4.6.0"], "redis_py.py"),
    Row("python", "redis-py", "5.3", ["redis==5.3.1"], "redis_py.py"),
    Row("python", "redis-py", "6.4", ["redis==6.4.0"], "redis_py.py"),
    Row("python", "redis-py", "8.0", ["redis==8.0.0"], "redis_py.py"),
    *(Row("python", "redis-py", version, [f"redis=={package}"], "redis_py_aio.py",
          {"KIND": "asyncio"})
      for version, package in (("5.3", "5.3.1"), ("6.4", "6.4.0"), ("8.0", "8.0.0"))),
    Row("python", "python-redis-lock", "3.5", ["python-redis-lock==3.5.0", "redis==4.6.0"],
        "python_redis_lock.py"),
    Row("python", "python-redis-lock", "4.0", ["python-redis-lock==4.0.0", "redis==8.0.0"],
        "python_redis_lock.py"),
    Row("python", "pottery", "3.0", ["pottery==3.0.1"], "pottery_redlock.py"),
    Row("python", "redlock-py", "1.0", ["redlock-py==1.0.8", "redis==4.6.0"], "redlock_py.py"),
    Row("python", "aioredlock", "0.7", ["aioredlock==0.7.3"], "aioredlock_py.py"),
    Row("python", "django-redis", "5.4", ["django-redis==5.4.0", "django==4.2.16", "redis==5.3.1"],
        "django_redis_py.py"),
    Row("python", "celery-redbeat", "2.3", ["celery-redbeat==2.3.3", "setuptools<81"],
        "redbeat_py.py", hunted=False),
]

NODE = [
    Row("node", "redlock", "3.1", ["redlock@3.1.2", "ioredis@5"], "redlock_4.js"),
    Row("node", "redlock", "4.0", ["redlock@4.0.0", "ioredis@5"], "redlock_4.js"),
    Row("node", "redlock", "4.2", ["redlock@4.2.0", "ioredis@5"], "redlock_4.js"),
    Row("node", "redlock", "5.0", ["redlock@5.0.0-beta.2", "ioredis@5"], "redlock_5.js"),
    Row("node", "@sesamecare-oss/redlock", "1.4", ["@sesamecare-oss/redlock@1.4.0", "ioredis@5"],
        "redlock_5.js"),
    Row("node", "redlock-universal", "0.8", ["redlock-universal@0.8.5", "ioredis@5"],
        "redlock_universal.js"),
    Row("node", "redis-semaphore", "4.1", ["redis-semaphore@4.1.0", "ioredis@4"],
        "redis_semaphore.js"),
    Row("node", "redis-semaphore", "5.8", ["redis-semaphore@5.8.0", "ioredis@5"],
        "redis_semaphore.js"),
    Row("node", "ioredis", "5", ["ioredis@5"], "clients.js", {"CLIENT": "ioredis"}),
    Row("node", "node-redis", "4", ["redis@4"], "clients.js", {"CLIENT": "redis"}),
    Row("node", "node-redis", "5", ["redis@5"], "clients.js", {"CLIENT": "redis"}),
]

JAVA = [
    redisson("3.17.7", "1.7.36"),
    redisson("3.22.1", "1.7.36"),
    redisson("3.46.0", "1.7.36"),
    redisson("3.52.0", "2.0.17"),
    redisson("4.7.0", "2.0.17"),
    Row("java", "redisson-spring-boot-starter", "3.22.1", [
        "org.redisson:redisson-spring-boot-starter:3.22.1",
        "org.springframework.boot:spring-boot-autoconfigure:3.1.12",
        "org.slf4j:slf4j-api:2.0.7"], "RedissonBoot.java"),
    Row("java", "redisson-spring-boot-starter", "3.52.0", [
        "org.redisson:redisson-spring-boot-starter:3.52.0",
        "org.springframework.boot:spring-boot-autoconfigure:3.5.6"], "RedissonBoot.java"),
    Row("java", "distributed-redis-lock", "1.0.0", [
        "top.crossoverjie.opensource:distributed-redis-lock:1.0.0", "redis.clients:jedis:2.9.0"],
        "JedisOld.java"),
    Row("java", "Jedis", "3.10.0", ["redis.clients:jedis:3.10.0", SLF4J + "1.7.36"],
        "JedisLocks.java"),
    Row("java", "Jedis", "5.2.0", ["redis.clients:jedis:5.2.0", SLF4J + "2.0.17"],
        "JedisLocks.java"),
    Row("java", "Jedis", "8.0.2", ["redis.clients:jedis:8.0.2", SLF4J + "2.0.17"],
        "JedisLocks.java"),
    Row("java", "Lettuce", "6.1.10", ["io.lettuce:lettuce-core:6.1.10.RELEASE", SLF4J + "1.7.36"],
        "LettuceLocks.java"),
    Row("java", "Lettuce", "7.7.0", ["io.lettuce:lettuce-core:7.7.0.RELEASE", SLF4J + "2.0.17"],
        "LettuceLocks.java"),
    *spring("5.5.20", "6.1.10.RELEASE", "1.7.36"),
    *spring("6.1.9", "6.2.7.RELEASE", "2.0.17"),
    *spring("6.5.5", "6.6.0.RELEASE", "2.0.17"),
    *spring("7.1.2", "7.7.0.RELEASE", "2.0.17"),
    # Its provider for Lettuce is not in all mirrors of Maven; `walk` knows its texts.
    shedlock("jedis4", "5.12.0", "ShedJedis.java", "redis.clients:jedis:5.2.0"),
    shedlock("spring", "7.10.1", "ShedSpring.java",
             "org.springframework.data:spring-data-redis:4.1.2",
             "io.lettuce:lettuce-core:7.7.0.RELEASE"),
]

REDSYNC = ["github.com/go-redsync/redsync/v4@v4.18.1", "github.com/redis/go-redis/v9@v9.23.0",
           "github.com/gomodule/redigo@v1.9.3", "github.com/redis/rueidis@v1.0.79",
           "github.com/redis/rueidis/rueidiscompat@v1.0.79"]

GO = [
    *(Row("go", "redsync", "4.18", REDSYNC, "redsync.go", {"POOL": pool})
      for pool in ("go-redis", "redigo", "rueidis")),
    Row("go", "bsm/redislock", "0.9.4", ["github.com/bsm/redislock@v0.9.4",
                                           "github.com/redis/go-redis/v9@v9.17.3"], "redislock.go"),
    Row("go", "rueidislock", "1.0", ["github.com/redis/rueidis@v1.0.79"], "rueidislock.go",
        hunted=False),
    Row("go", "go-zero", "1.10", ["github.com/zeromicro/go-zero@v1.10.3"], "gozero.go"),
]

RUST = [
    Row("rust", "redis-rs", "0.27", ["redis@=0.27.6"], "redis_rs.rs"),
    Row("rust", "redis-rs", "1.8", ["redis@=1.8.1"], "redis_rs.rs"),
    Row("rust", "rslock", "0.10", ["rslock@=0.10.0 --features tokio-comp", "tokio@=1.54.1 --features full"], "rslock.rs"),
]

# In the version that the machine has.
DISTRIBUTION = [
    Row("php", "phpredis", "as installed", [], "phpredis.php"),
    Row("php", "Predis", "as installed", [], "predis.php"),
    Row("ruby", "ruby-redis", "as installed", [], "redis_rb.rb"),
]

# No library: it judges histories (histories.py).
PORCUPINE = Row("go", "porcupine", "1.3", ["github.com/anishathalye/porcupine@v1.3.1"],
                "porcupine.go", hunted=False)

# Frameworks of recipes, and what looks at types: tests of tests/system run them (lib/pinned.py).
OTHERS = [
    Row("python", "Celery", "5.7", ["celery[redis]==5.7.0"], None),
    Row("python", "Django", "5.2", ["django==5.2.19"], None),
    Row("python", "APScheduler", "3.11", ["apscheduler==3.11.3"], None),
    Row("python", "moto", "5.2", ["moto[s3]==5.2.5", "boto3==1.44.8", "flask==3.1.3",
                                  "flask-cors==6.0.5"], None),
    Row("python", "mypy", "2.4", ["mypy==2.4.1"], None),
    Row("node", "Express", "4", ["express@4"], None),
    Row("node", "Fastify", "5", ["fastify@5"], None),
    Row("node", "BullMQ", "6", ["bullmq@6", "ioredis@5"], None),
    Row("node", "pg", "8", ["pg@8"], None),
    Row("java", "Spring", "6.2", ["org.springframework:spring-context:6.2.15"], None),
    Row("java", "PostgreSQL JDBC", "42.7", ["org.postgresql:postgresql:42.7.14"], None),
]

# It takes longest, so it begins first.
ROWS = [PORCUPINE, *PYTHON, *NODE, *JAVA, *GO, *RUST, *DISTRIBUTION]
