# clients: libraries for programs. They are files to copy, or to install with
# the tools of their language.
EXTRA_DIST += \
	clients/conformance/README.md \
	clients/conformance/driver.c \
	clients/conformance/driver.go \
	clients/conformance/driver.js \
	clients/conformance/driver.py \
	clients/conformance/driver_aio.py \
	clients/conformance/driver_command.py \
	clients/conformance/play.py \
	clients/conformance/story.txt \
	clients/go/CHANGELOG.md \
	clients/go/README.md \
	clients/go/broker.go \
	clients/go/client_test.go \
	clients/go/clock.go \
	clients/go/clock_linux.go \
	clients/go/clock_other.go \
	clients/go/doc.go \
	clients/go/ear.go \
	clients/go/errors.go \
	clients/go/example_test.go \
	clients/go/go.mod \
	clients/go/lock.go \
	clients/go/session.go \
	clients/go/words.go \
	clients/go/words_test.go \
	clients/node/README.md \
	clients/node/index.d.ts \
	clients/node/index.js \
	clients/node/package.json \
	clients/node/session.js \
	clients/python/README.md \
	clients/python/build_wheel.py \
	clients/python/lockbroker/__init__.py \
	clients/python/lockbroker/aio.py \
	clients/python/lockbroker/py.typed \
	clients/python/pyproject.toml

# The library for programs in C: what the command has of a connection, and
# lockbroker.c, in one shared object that exports what lockbroker.map lists. Its
# number rises where a program would have to be compiled again.
include_HEADERS = clients/c/lockbroker.h
pkgconfigdir = $(libdir)/pkgconfig
pkgconfig_DATA = clients/c/lockbroker.pc
soname = liblockbroker.so.0
liblockbrokerdir = $(libdir)
liblockbroker_PROGRAMS = clients/c/liblockbroker.so.0
clients_c_liblockbroker_so_0_SOURCES = \
	clients/c/lockbroker.c \
	$(src_client_libclient_a_SOURCES) \
	src/relay/greeting.c \
	src/relay/spawn.c \
	src/base/address.c \
	src/base/buf.c \
	src/base/exec.c \
	src/base/now.c \
	src/base/parse.c \
	src/base/tcp.c \
	src/base/xmalloc.c
clients_c_liblockbroker_so_0_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)
clients_c_liblockbroker_so_0_CFLAGS = $(AM_CFLAGS) -fPIC -fvisibility=hidden
clients_c_liblockbroker_so_0_LDFLAGS = -shared -Wl,-soname,$(soname) \
	-Wl,--version-script=$(srcdir)/clients/c/lockbroker.map \
	-Wl,-z,relro -Wl,-z,now -Wl,--gc-sections $(SANITIZE)
EXTRA_clients_c_liblockbroker_so_0_DEPENDENCIES = clients/c/lockbroker.map
EXTRA_DIST += \
	clients/c/README.md \
	clients/c/lockbroker.map

install-data-hook:
	cd $(DESTDIR)$(libdir) && $(LN_S) -f $(soname) liblockbroker.so

uninstall-hook:
	rm -f $(DESTDIR)$(libdir)/liblockbroker.so

# The client for Java, which Maven builds, or javac.
EXTRA_DIST += \
	clients/conformance/Driver.java \
	clients/java/CHANGELOG.md \
	clients/java/README.md \
	clients/java/pom.xml \
	clients/java/shedlock/pom.xml \
	clients/java/shedlock/src/main/java/org/lockbroker/shedlock/LockBrokerLockProvider.java \
	clients/java/src/main/java/org/lockbroker/Address.java \
	clients/java/src/main/java/org/lockbroker/Broker.java \
	clients/java/src/main/java/org/lockbroker/BrokerLock.java \
	clients/java/src/main/java/org/lockbroker/BrokerReadWriteLock.java \
	clients/java/src/main/java/org/lockbroker/BrokerSemaphore.java \
	clients/java/src/main/java/org/lockbroker/Call.java \
	clients/java/src/main/java/org/lockbroker/Clock.java \
	clients/java/src/main/java/org/lockbroker/Core.java \
	clients/java/src/main/java/org/lockbroker/DeadlockException.java \
	clients/java/src/main/java/org/lockbroker/DeniedException.java \
	clients/java/src/main/java/org/lockbroker/Grant.java \
	clients/java/src/main/java/org/lockbroker/Hold.java \
	clients/java/src/main/java/org/lockbroker/Keeper.java \
	clients/java/src/main/java/org/lockbroker/Limit.java \
	clients/java/src/main/java/org/lockbroker/LockBrokerException.java \
	clients/java/src/main/java/org/lockbroker/LostException.java \
	clients/java/src/main/java/org/lockbroker/Reply.java \
	clients/java/src/main/java/org/lockbroker/Session.java \
	clients/java/src/main/java/org/lockbroker/Threads.java \
	clients/java/src/main/java/org/lockbroker/Tls.java \
	clients/java/src/main/java/org/lockbroker/UnavailableException.java \
	clients/java/src/main/java/org/lockbroker/Want.java \
	clients/java/src/main/java/org/lockbroker/Wire.java \
	clients/java/src/main/java/org/lockbroker/Words.java
