/*
 * The cases of test_config.c: one row each.  To add a setting, add a row to
 * good_cases with a value that is not its default, and one to fault_cases for
 * each way in which it can be wrong.
 */
#ifndef LOCKBROKER_TESTS_CONFIG_CASES_H
#define LOCKBROKER_TESTS_CONFIG_CASES_H

#include "config_rig.h"

/* A text, and the line that config_dump() makes of its value. */
struct good_case {
	const char *yaml;
	const char *dumped;
};

/* A text, and all its faults, each ended by a newline. */
struct fault_case {
	const char *yaml;
	const char *faults;
};

#define SHA1 "da39a3ee5e6b4b0d3255bfef95601890afd80709"

static const struct good_case good_cases[] = {
	{ "broker: {http_address: \"https://a/b\"}",
	    "  http_address: \"https://a/b\"\n" },
	{ "broker: {leave: 0}", "  leave: 0\n" },
	{ "broker: {leave: 365d}", "  leave: 365d\n" },
	{ "broker: {name: Az09._-}", "  name: \"Az09._-\"\n" },
	{ "broker: {address: \"db-1.example.org:5625\"}",
	    "  address: \"db-1.example.org:5625\"\n" },
	{ "broker: {address: \"[2001:db8::1]:5625\"}",
	    "  address: \"[2001:db8::1]:5625\"\n" },

	{ "listen: []", "listen: []\n" },
	{ "listen: [{http: \"[::1]:5627\"}]",
	    "\nlisten:\n  - http: \"[::1]:5627\"\n\n" },
	{ "listen:", "\nlisten:\n  - tcp: \"127.0.0.1:5625\"\n"
		     "    proxied: false\n\n" },
	{ "listen: [{tcp: \"[::1]:0\"}]", "\nlisten:\n  - tcp: \"[::1]:0\"\n" },
	{ "listen: [{tcp: \"[fe80::1%eth0]:65535\"}]",
	    "  - tcp: \"[fe80::1%eth0]:65535\"\n" },
	{ "listen: [{tcp: \"a-b.c_d:1\"}]", "  - tcp: \"a-b.c_d:1\"\n" },
	{ "listen: [{tcp: \"0.0.0.0:0\"}, {tcp: \"0.0.0.0:0\"}]",
	    "  - tcp: \"0.0.0.0:0\"\n    proxied: false\n"
	    "  - tcp: \"0.0.0.0:0\"\n    proxied: false\n" },
	{ "listen: [{tcp: \"a:1\", proxied: true}, {tcp: \"a:2\"}]",
	    "  - tcp: \"a:1\"\n    proxied: true\n"
	    "  - tcp: \"a:2\"\n    proxied: false\n" },
	{ "listen: [{tcp: \"a:1\", proxied: header}]",
	    "    proxied: header\n" },
	{ "listen: [{tcp: \"a:1\", proxied: \"true\"}]",
	    "    proxied: true\n" },
	{ "listen: [{unix: /run/a}]",
	    "  - unix: \"/run/a\"\n    mode: \"0660\"\n    group: \"\"\n" },
	{ "listen: [{unix: /run/a, mode: 0600, group: root}]",
	    "  - unix: \"/run/a\"\n    mode: \"0600\"\n    group: \"root\"\n" },
	{ "listen: [{unix: /run/a, mode: \"777\"}]", "    mode: \"0777\"\n" },
	{ "listen: [{unix: \"\"}]", "listen: []\n" },
	/* Null is as if the key were not given. */
	{ "null", "\nlisten:\n  - tcp: \"127.0.0.1:5625\"\n" },
	{ "redis: ~", "  mode: embedded\n" },
	{ "listen: [{tcp: \"a:1\", proxied: ~, tls: null, key: Null, mode: NULL}]",
	    "\nlisten:\n  - tcp: \"a:1\"\n    proxied: false\n\n" },
	{ "auth: {users: ~, anonymous: null}", "\nauth:\n" },
	{ "auth: {users: [{name: a, hash: ~, unix: null, lock: Null, admin: "
	  "NULL}]}",
	    "  users:\n    - name: \"a\"\n" },
	{ "auth: {users: [{name: \"null\", lock: [\"~\"]}]}",
	    "    - name: \"null\"\n" },
	{ "redis: {prefix: 'null'}", "  prefix: \"null\"\n" },
	{ "redis: {prefix: Nullx}", "  prefix: \"Nullx\"\n" },

	{ "log: {audit: true}", "  audit: true\n" },
	{ "metrics: {classes: []}", "\nmetrics:\n  classes: []\n" },
	{ "metrics: {classes: [{name: a, names: [\"b/*\", c]}, {name: d, "
	  "names: [\"*\"]}]}",
	    "  classes:\n    - name: \"a\"\n      names: [\"b/*\", \"c\"]\n"
	    "    - name: \"d\"\n      names: [\"*\"]\n" },

	{ "auth:", "\nauth: # absent: every client has all rights\n" },
	{ "auth: {}", "\nauth:\n  users_file: \"\"\n  users: []\n\n" },
	{ "auth: {users: [{name: a}]}",
	    "  users:\n    - name: \"a\"\n      unix: []\n"
	    "      certificate: []\n      lock: []\n      watch: []\n"
	    "      deny: []\n      admin: false\n" },
	{ "auth: {users: [{name: a, lock: [\"x/*\", \"%u\"], admin: true}]}",
	    "      lock: [\"x/*\", \"%u\"]\n" },
	{ "auth: {users: [{name: a, unix: [root, \"%root\"]}]}",
	    "      unix: [\"root\", \"%root\"]\n" },
	{ "auth: {users: [{name: a, limits: {holds: 5}}]}",
	    "      limits:\n        clients: 0\n        holds: 5\n"
	    "        waiters: 0\n        requests: 0\n" },
	{ "auth: {users: [{name: a, certificate: [\"CN=a\", \"DNS:b\", "
	  "\"URI:c:d\"]}]}",
	    "      certificate: [\"CN=a\", \"DNS:b\", \"URI:c:d\"]\n" },
	{ "auth: {users: [{name: a, hash: $y$j9T$x}]}",
	    "      # hash: \"********\" is set and not shown here; put it in "
	    "again\n" },
	{ "auth: {anonymous: {lock: [\"public/*\"]}}",
	    "  anonymous:\n    lock: [\"public/*\"]\n    watch: []\n" },
	{ "auth: {anonymous: }", "  anonymous:\n    lock: []\n" },

	{ "redis: {mode: embedded}", "  mode: embedded\n" },
	{ STANDALONE, "  mode: standalone\n  nodes:\n    - \"r:1\"\n" },
	{ SENTINEL, "  mode: sentinel\n" },
	{ SENTINEL, "  master: \"m\"\n" },
	{ CLUSTER, "  mode: cluster\n" },
	{ CLUSTER, "  replicas: 1\n" },
	{ "redis: {mode: cluster, nodes: [a:1], replicas: 0}",
	    "  replicas: 0\n" },
	{ "redis: {mode: quorum, nodes: [a:1, a:2, a:3]}",
	    "    - \"a:1\"\n    - \"a:2\"\n    - \"a:3\"\n" },
	{ "redis: {mode: quorum, nodes: [a:1, a:2, a:3, a:4, a:5, a:6, a:7, "
	  "a:8, \"unix:/x\"]}",
	    "    - \"a:8\"\n    - \"unix:/x\"\n" },
	{ "redis: {nodes: }", "  nodes: []\n" },
	{ "redis: {server: /opt/redis-server}",
	    "  server: \"/opt/redis-server\"\n" },
	{ STANDALONE "  user: no", "  user: \"no\"\n" },
	{ STANDALONE "  password: s3\\cret", "  # password: \"********\"" },
	{ STANDALONE "  password: ", "  password: \"\"\n" },
	{ SENTINEL "  sentinel_user: \"~\"", "  sentinel_user: \"~\"\n" },
	{ STANDALONE "  database: 65535", "  database: 65535\n" },
	{ "redis: {connections: 64}", "  connections: 64\n" },
	{ "redis: {connect_timeout: 10ms}", "  connect_timeout: 10ms\n" },
	{ "redis: {reply_timeout: 3600s}", "  reply_timeout: 1h\n" },
	{ "redis: {prefix: \"{a}\\\"\\\\é:\"}",
	    "  prefix: \"{a}\\\"\\\\é:\"\n" },
	{ "redis: {prefix: \"\xe2\x80\xa8\\uFEFF\xc2\xa0\"}",
	    "  prefix: \"\\u2028\\ufeff\xc2\xa0\"\n" },
	{ "redis: {prefix: }", "  prefix: \"\"\n" },
	{ STANDALONE "  replicas: 64", "  replicas: 64\n" },
	{ "redis: {trust_new: true}", "  trust_new: true\n" },
	{ "redis: {tls: false}", "  tls: false\n" },

	{ "locks: {lease: 1s}", "  lease: 1s\n" },
	{ "locks: {lease: 1500ms}", "  lease: 1500ms\n" },
	{ "locks: {lease: \"24h\"}", "  lease: 1d\n" },
	{ "locks: {handovers: 1}", "  handovers: 1\n" },
	{ "locks: {max_grace: 0}", "  max_grace: 0\n" },
	{ "locks: {max_hold: 365d}", "  max_hold: 365d\n" },
	{ "locks: {max_keep: 0, max_delay: 365d, max_ttl: 1000ms}",
	    "  max_keep: 0\n  max_delay: 365d\n  max_ttl: 1s\n" },
	{ "locks: {max_hold: 1m, default_hold: 60s}", "  default_hold: 1m\n" },
	{ "locks: {default_hold: 2h}", "  default_hold: 2h\n" },
	{ "locks: {warm: 1s}", "  warm: 1s\n  warm_names: [\"*\"]\n" },
	{ "locks: {warm: 0}", "  warm: 0\n  warm_names: [\"*\"]\n" },
	{ "locks: {warm: auto}", "  warm: auto\n  warm_names: [\"*\"]\n" },
	{ "locks: {lease: 1s, warm: 100ms, warm_names: [\"a/*\", b]}",
	    "  warm: 100ms\n  warm_names: [\"a/*\", \"b\"]\n" },
	{ "locks: {warm_names: []}", "  warm_names: []\n" },

	{ "limits: {clients: 1}", "  clients: 1\n" },
	{ "limits: {line: 64}", "  line: 64\n" },
	{ "limits: {line: 8KB}", "  line: 8192\n" },
	{ "limits: {output: 1024B}", "  output: 1KB\n" },
	{ "limits: {output: 1GB}", "  output: 1GB\n" },
	{ "limits: {holds: 1}", "  holds: 1\n" },
	{ "limits: {requests: 1}", "  requests: 1\n" },
	{ "limits: {waiters: 1}", "  waiters: 1\n" },
	{ "limits: {unowned: 0}", "  unowned: 0\n" },
	{ "limits: {first_line: 10s}", "  first_line: 10s\n" },
	{ "limits: {unreachable: 8h}", "  unreachable: 8h\n" },
	{ "resp: {scripts: [{sha1: " SHA1 ", as: extend}]}",
	    "  scripts:\n    - sha1: \"" SHA1 "\"\n      as: \"extend\"\n" },
	{ "resp: {park: 0, max_wait: 365d}",
	    "resp:\n  park: 0\n  max_wait: 365d\n" },

	{ "log: {level: debug}", "  level: debug\n" },
	{ "log: {level: notice}", "  level: notice\n" },
	{ "log: {level: warning}", "  level: warning\n" },
	{ "log: {level: error}", "  level: error\n" },
	{ "log: {to: syslog}", "  to: syslog\n" },
	{ "log: {format: json}", "  format: json\n" },

	/* Forms of YAML that mean nothing but the defaults. */
	{ "", "  lease: 10s\n" },
	{ "---\n...\n", "  lease: 10s\n" },
	{ "# nothing\n", "  lease: 10s\n" },
	{ "locks:\n  # lease: 5s\nlog:\n", "  lease: 10s\n" },
	{ "\xef\xbb\xbflocks: {lease: 5s}", "  lease: 5s\n" },
	{ "locks: {\r\n  lease: 5s}\r\n", "  lease: 5s\n" },
};

#define IN_DURATION "expected a duration such as 30s or 500ms, from "
#define IN_NODE "expected HOST:PORT, [V6]:PORT or unix:/PATH\n"
#define OF_MODE                                                        \
	"expected redis.mode standalone for one server, or sentinel, " \
	"cluster or quorum\n"
#define IN_TCP                                                     \
	"expected HOST:PORT or [V6]:PORT (0.0.0.0:PORT for every " \
	"address of IPv4)\n"
#define IN_UNIX "expected an absolute path of at most 107 bytes, or \"\"\n"
#define IN_MODE "expected 3 or 4 octal digits such as \"0660\"\n"
#define IN_ENTRY "expected a mapping with either tcp, tls, unix or http\n"
#define IN_TLS "listen: [{tls: \"a:1\", certificate: /dev/null, key: /dev/null"
#define IN_10M "expected a number from 1 to 10000000\n"
#define REFUSED "anchors and aliases are refused\n"
#define X20 "xxxxxxxxxxxxxxxxxxxx"

/* The fault of `redis.tls: true` in line 4 if the build has no TLS. */
#ifdef HAVE_TLS
#define NO_TLS ""
#else
#define NO_TLS "t:4:8: redis.tls: this build is without TLS, expected false\n"
#endif

static const struct fault_case fault_cases[] = {
	/* TLS: no fault if the build has it. */
	{ STANDALONE "  tls: true", NO_TLS },
	{ STANDALONE "  tls: true\n  tls_ca: /a", NO_TLS },
	{ STANDALONE "  tls: true\n  tls_cert: /a\n  tls_key: /b", NO_TLS },
	{ STANDALONE "  tls: true\n  tls_cert: /a", NO_TLS
	    "t:5:13: redis.tls_key: not given, expected both redis.tls_cert "
	    "and redis.tls_key, or neither\n" },
	{ STANDALONE "  tls: true\n  tls_key: /a", NO_TLS
	    "t:5:12: redis.tls_cert: not given, expected both redis.tls_cert "
	    "and redis.tls_key, or neither\n" },
	{ "redis:\n\n  mode: embedded\n  tls: true\n",
	    NO_TLS "t:4:8: redis.tls: true, expected false with redis.mode "
		   "embedded\n" },

	/* Keys */
	{ "lokcs: {lease: 5s}",
	    "t:1:1: lokcs: unknown key, did you mean locks?\n" },
	{ "locks: {leese: 5s}",
	    "t:1:9: locks.leese: unknown key, did you mean locks.lease?\n" },
	{ "redis: {node: x}",
	    "t:1:9: redis.node: unknown key, did you mean redis.nodes?\n" },
	{ "redis: {conn: x}", "t:1:9: redis.conn: unknown key, did you mean "
			      "redis.connections?\n" },
	{ "locks: {maxhold: 5s}", "t:1:9: locks.maxhold: unknown key, did you "
				  "mean locks.max_hold?\n" },
	{ "lease: 5s",
	    "t:1:1: lease: unknown key, did you mean locks.lease?\n" },
	{ "log: {lease: 5s}",
	    "t:1:7: log.lease: unknown key, did you mean locks.lease?\n" },
	{ "log: {frobnicate: 1}",
	    "t:1:7: log.frobnicate: unknown key, "
	    "expected one of: level, to, format, audit\n" },
	{ "frobnicate: 1",
	    "t:1:1: frobnicate: unknown key, expected one of: "
	    "broker, listen, redis, locks, limits, auth, resp, metrics, log\n" },
	{ "\"a\\nb\": 1",
	    "t:1:1: 'a\\x0ab': unknown key, expected one of: "
	    "broker, listen, redis, locks, limits, auth, resp, metrics, log\n" },
	{ "\"\": 1",
	    "t:1:1: '': unknown key, expected one of: "
	    "broker, listen, redis, locks, limits, auth, resp, metrics, log\n" },
	{ "log:\n  to: syslog\n  to: stderr\n",
	    "t:3:3: log.to: given twice: first set on line 2\n" },
	{ "log: {to: syslog}\nlocks: {}\nlog: {level: x}\n",
	    "t:3:1: log: given twice: first set on line 1\n"
	    "t:3:14: log.level: 'x' is unknown, expected debug, info, notice, "
	    "warning or error\n" },
	{ "listen: [{tcp: \"a:1\", tcp: \"b:1\"}]",
	    "t:1:23: listen.tcp: given twice: first set on line 1\n" },

	/* Structure */
	{ "metrics: {classes: {}}",
	    "t:1:20: metrics.classes: is a mapping, expected a list of "
	    "classes, each a mapping with name and names\n" },
	{ "metrics: {classes: [a]}",
	    "t:1:21: metrics.classes: is a single value, expected a mapping "
	    "with name and names\n" },
	{ "resp: {scripts: [{sha1: " X20 X20 ", as: release}]}",
	    "t:1:25: resp.scripts.sha1: '" X20 X20
	    "' has a character that is not a hexadecimal digit, expected the "
	    "sha1 of a script, 40 hexadecimal digits\n" },
	{ "resp: {scripts: [{sha1: abc, as: release}]}",
	    "t:1:25: resp.scripts.sha1: 'abc' does not have 40 digits, expected the "
	    "sha1 of a script, 40 hexadecimal digits\n" },
	{ "resp: {scripts: [{sha1: " SHA1 ", as: lease}]}",
	    "t:1:71: resp.scripts.as: 'lease' is none of them, expected "
	    "acquire, release, extend or query\n" },
	{ "resp: {scripts: [{as: query}]}",
	    "t:1:18: resp.scripts: has no sha1, expected a mapping with sha1 "
	    "and as\n" },
	{ "metrics: {classes: [{names: [a]}]}",
	    "t:1:21: metrics.classes: has no name, expected a mapping with "
	    "name and names\n" },
	{ "metrics: {classes: [{name: a}]}",
	    "t:1:21: metrics.classes: has no names, expected a mapping with "
	    "name and names\n" },
	{ "metrics: {classes: [{name: a, names: [b]}, {name: a, names: [c]}]}",
	    "t:1:44: metrics.classes: the class a is given twice, expected "
	    "once\n" },
	{ "metrics: {classes: [{name: other, names: [b]}]}",
	    "t:1:28: metrics.classes.name: 'other' is the class of all other "
	    "names, expected up to 64 letters, digits and . _ -\n" },
	{ "metrics: {classes: [{name: \"a b\", names: [b]}]}",
	    "t:1:28: metrics.classes.name: 'a b' has other characters, "
	    "expected up to 64 letters, digits and . _ -\n" },
	{ "metrics: {classes: [{name: a, names: [\"%u\"]}]}",
	    "t:1:39: metrics.classes.names: '%u' has a user in it, expected "
	    "a name, or a prefix followed by '*'\n" },
	{ "metrics: {classes: [{name: a, names: [\"b*c\"]}]}",
	    "t:1:39: metrics.classes.names: 'b*c' has a '*' before its end, "
	    "expected a name, or a prefix followed by '*'\n" },
	{ "metrics: {classes: [{name: a, names: [b], x: y}]}",
	    "t:1:43: metrics.classes.x: unknown key, expected name or "
	    "names\n" },
	{ "metrics: {class: []}",
	    "t:1:11: metrics.class: unknown key, did you mean "
	    "metrics.classes?\n" },

	{ "auth: []", "t:1:7: auth: is a list, expected a mapping with "
		      "users_file, users or anonymous\n" },
	{ "auth: {user: []}", "t:1:8: auth.user: unknown key, did you "
			      "mean auth.users?\n" },
	{ "auth: {people: []}", "t:1:8: auth.people: unknown key, expected "
				"users_file, users or anonymous\n" },
	{ "auth: {users: {}}",
	    "t:1:15: auth.users: is a mapping, expected a list of users\n" },
	{ "auth: {users: [a]}",
	    "t:1:16: auth.users: is a single value, expected a mapping with "
	    "name, and lock, watch, deny or admin\n" },
	{ "auth: {users: [{lock: []}]}",
	    "t:1:16: auth.users: has no name, expected a mapping with name, "
	    "and lock, watch, deny or admin\n" },
	{ "auth: {users: [{name: a}, {name: a}]}",
	    "t:1:27: auth.users: the user a is given twice, expected once\n" },
	{ "auth: {users: [{name: a, pass: b}]}",
	    "t:1:26: auth.users.pass: unknown key, expected name, hash, unix, "
	    "certificate, lock, watch, deny, admin or limits\n" },
	{ "auth: {users: [{name: a, admin: true, limits: {client: 5}}]}",
	    "t:1:48: auth.users.limits.client: unknown key, did you mean "
	    "auth.users.limits.clients?\n" },
	{ "auth: {users: [{name: a, admin: true, limits: {holds: -1}}]}",
	    "t:1:55: auth.users.limits.holds: '-1' is not a whole number, "
	    "expected a number from 0 to 10000000\n" },
	{ "auth: {users: [{name: \"a b\"}]}",
	    "t:1:23: auth.users.name: 'a b' has a name with other characters "
	    "than letters, digits and . _ - + @, expected the name of a "
	    "user\n" },
	{ "auth: {users: [{name: a, hash: secret}]}",
	    "t:1:32: auth.users.hash: is neither \"sha256:\" with 64 digits "
	    "nor a hash of crypt(3), which begins with \"$\"\n" },
	{ "auth: {users: [{name: a, lock: \"*\"}]}",
	    "t:1:32: auth.users.lock: is a single value, expected a list\n" },
	{ "auth: {users: [{name: a, lock: [\"*x\"]}]}",
	    "t:1:33: auth.users.lock: '*x' has a '*' before its end, expected "
	    "a name, or a prefix followed by '*'\n" },
	{ "auth: {users: [{name: a, admin: yes}]}",
	    "t:1:33: auth.users.admin: 'yes' is not true or false, "
	    "expected true or false\n" },
	{ "auth: {users: [{name: a, certificate: [a]}]}",
	    "t:1:40: auth.users.certificate: 'a' is not a name in a certificate, "
	    "expected CN=..., DNS:... or URI:...\n" },
	{ "auth: {users: [{name: a, unix: [\"%\"]}]}",
	    "t:1:33: auth.users.unix: '%' is empty, expected a user of this "
	    "host, or a group as \"%group\"\n" },
	{ "auth: {users: [{name: a, unix: [no-such-user-here]}]}",
	    "t:1:7: auth: auth.users: a: unix: user "
	    "\"no-such-user-here\" does not exist on this host\n" },
	{ "auth: {users_file: /nonexistent/users}",
	    "t:1:7: auth: users_file: '/nonexistent/users' cannot be read (No "
	    "such file or directory), expected a readable file with lines "
	    "NAME:HASH\n" },
	{ "auth: {anonymous: {name: a}}",
	    "t:1:20: auth.anonymous.name: unknown key, expected lock, watch or "
	    "deny\n" },
	{ "5",
	    "t:1:1: (top): is a single value, expected a mapping with: "
	    "broker, listen, redis, locks, limits, auth, resp, metrics, log\n" },
	{ "- a",
	    "t:1:1: (top): is a list, expected a mapping with: "
	    "broker, listen, redis, locks, limits, auth, resp, metrics, log\n" },
	{ "log: [a]", "t:1:6: log: is a list, expected a mapping with: level, "
		      "to, format, audit\n" },
	{ "a: b: c", "t:1:5: syntax: mapping values are not allowed in this "
		     "context, expected valid YAML\n" },
	{ "log:\n\tto: syslog",
	    "t:2:1: syntax: a tab indents the line, expected spaces\n" },
	{ "log:\n  to: a\n  \tformat: b",
	    "t:3:3: syntax: a tab indents the line, expected spaces\n" },
	{ "log:\n  to: @\t",
	    "t:2:7: syntax: found character that cannot start any token while "
	    "scanning for the next token, expected valid YAML\n" },
	{ "log: [a,\nto: b\n",
	    "t:3:1: syntax: did not find expected ',' or ']' while parsing a "
	    "flow sequence, which begins in line 1, expected valid YAML\n" },
	{ "log: \"", "t:1:7: syntax: found unexpected end of stream while "
		     "scanning a quoted scalar, expected valid YAML\n" },
	{ "log: {}\nl\xff",
	    "t:2:2: syntax: invalid leading UTF-8 octet, expected UTF-8 "
	    "text\n" },
	{ "log: {to: \001}", "t:1:11: syntax: control characters are not "
			     "allowed, expected UTF-8 text\n" },
	{ "locks: {lease: 1}\n---\nx: 1\n",
	    "t:1:16: locks.lease: '1' has no unit, " IN_DURATION "1s to 1d\n"
	    "t:2:1: (top): a second document begins here, expected only "
	    "one\n" },
	{ "log: &a {to: syslog}",
	    "t:1:6: log: has an anchor (&), expected a plain value: " REFUSED },
	{ "log: {to: &a syslog}", "t:1:11: log.to: has an anchor (&), "
				  "expected a plain value: " REFUSED },
	{ "redis: {nodes: &a []}", "t:1:16: redis.nodes: has an anchor (&), "
				   "expected a plain value: " REFUSED },
	{ "log: *a",
	    "t:1:6: log: is an alias (*), expected a plain value: " REFUSED },
	{ "log: {to: *a}", "t:1:11: log.to: is an alias (*), expected a "
			   "plain value: " REFUSED },
	{ "listen: [*a]", "t:1:10: listen: is an alias (*), expected a plain "
			  "value: " REFUSED },
	{ "redis: {nodes: [*a]}", "t:1:17: redis.nodes: is an alias (*), "
				  "expected a plain value: " REFUSED },
	{ "*a : 1", "t:1:1: (top): a list, mapping or alias as a key, "
		    "expected the name of a setting\n" },
	{ "&a log: {}", "t:1:1: (top): has an anchor (&), expected a plain "
			"value: " REFUSED },
	{ "!!str log: {}", "t:1:1: (top): has a tag (!), expected a plain "
			   "value: tags are refused\n" },
	{ "log: !!map {}", "t:1:6: log: has a tag (!), expected a plain "
			   "value: tags are refused\n" },
	{ "listen: !!seq []", "t:1:9: listen: has a tag (!), expected a plain "
			      "value: tags are refused\n" },
	{ "log: {to: !!str syslog, level: ! info}",
	    "t:1:11: log.to: has a tag (!), expected a plain value: tags are "
	    "refused\n"
	    "t:1:32: log.level: has a tag (!), expected a plain value: tags "
	    "are refused\n" },
	{ "? [a]\n: b", "t:1:3: (top): a list, mapping or alias as a key, "
			"expected the name of a setting\n" },
	{ "\"a\\0b\": 1", "t:1:1: (top): a key with a NUL character, "
			  "expected the name of a setting\n" },
	{ "redis: {user: \"a\\0b\"}",
	    "t:1:15: redis.user: contains a "
	    "NUL character, expected text without\n" },
	{ "[[[[[[[[[", "t:1:9: (top): nested too deeply, expected at most 8 "
		       "levels\n" },

	/* broker */
	{ "broker: {name: a b}",
	    "t:1:16: broker.name: 'a b' has a character that is not allowed, "
	    "expected at most 64 letters, digits, '.', '_' and '-'\n" },
	{ "broker: {name: x" X20 X20 X20 "abcd}",
	    "t:1:16: broker.name: 'x" X20 "xxxxxxxxxxxxxxxxxxx...' is too "
	    "long, expected at most 64 letters, digits, '.', '_' and '-'\n" },
	{ "broker: {name: [a]}",
	    "t:1:16: broker.name: is a list, expected at most 64 letters, "
	    "digits, '.', '_' and '-'\n" },
	{ "broker: {address: a}",
	    "t:1:19: broker.address: 'a' has no port, expected HOST:PORT or "
	    "[V6]:PORT\n" },
	{ "broker: {address: \"a:0\"}",
	    "t:1:19: broker.address: 'a:0' has no valid port, expected "
	    "HOST:PORT or [V6]:PORT\n" },
	{ "broker: {address: \"a b:1\"}",
	    "t:1:19: broker.address: 'a b:1' has a character that host names "
	    "cannot have, expected HOST:PORT or [V6]:PORT\n" },
	{ "broker: {leave: 366d}",
	    "t:1:17: broker.leave: '366d' is longer than 365d, " IN_DURATION
	    "0 to 365d\n" },
	{ "broker: {http_address: \"a:1\"}",
	    "t:1:24: broker.http_address: 'a:1' does not begin with http:// or "
	    "https://, expected a URL such as http://HOST:5627/\n" },
	{ "broker: {http_address: \"http://a b\"}",
	    "t:1:24: broker.http_address: 'http://a b' has a space in it, "
	    "expected a URL such as http://HOST:5627/\n" },

	/* listen */
	{ "listen: 127.0.0.1:1",
	    "t:1:9: listen: is a single value, expected a list of mappings, "
	    "each with either tcp, tls, unix or http\n" },
	{ "listen: [\"a:1\"]", "t:1:10: listen: is a single value, " IN_ENTRY },
	{ "listen: [{}]",
	    "t:1:10: listen: has neither tcp, tls, unix nor http, " IN_ENTRY },
	{ "listen: [{tcp: \"a:1\", unix: /a}]",
	    "t:1:23: listen.unix: given with tcp, " IN_ENTRY },
	{ "listen: [{tcp: \"a:1\", mode: \"0660\", group: root}]",
	    "t:1:23: listen.mode: given with tcp, expected only with unix\n"
	    "t:1:37: listen.group: given with tcp, expected only with unix\n" },
	{ "listen: [{port: \"a:1\"}]", "t:1:11: listen.port: unknown key, "
				       "expected tcp, tls, unix or http, or "
				       "one of the keys that go with them\n" },
	{ "listen: [{http: \"a:1\", mode: \"0660\"}, {http: \"/a\"}]",
	    "t:1:24: listen.mode: given with http, expected only with unix\n"
	    "t:1:46: listen.http: '/a' has no port, " IN_TCP },
	{ "listen: [{http: \"a:1\", tcp: \"a:2\"}]",
	    "t:1:11: listen.http: given with tcp, " IN_ENTRY },
	{ "listen: [{tcp: \"a:1\", proxied: yes}]",
	    "t:1:32: listen.proxied: 'yes' is none of these, expected "
	    "false, true or header\n" },
	{ "listen: [{unix: /a, proxied: true}]",
	    "t:1:21: listen.proxied: given with unix, expected only with tcp "
	    "or tls\n" },
	{ "listen: [{tls: \"a:1\"}]",
	    "t:1:11: listen.tls: has no certificate or no key, expected both "
	    "with it\n" },
	{ "listen: [{tls: \"a:1\", certificate: /none, key: /dev/null}]",
	    "t:1:36: listen.certificate: '/none' cannot be read, expected a "
	    "readable file\n" },
	{ "listen: [{tcp: \"a:1\", key: /dev/null}]",
	    "t:1:23: listen.key: given with tcp, expected only with tls\n" },
	{ "listen: [{tls: \"a:1\", tcp: \"a:1\"}]",
	    "t:1:11: listen.tls: given with tcp, " IN_ENTRY },
	{ IN_TLS ", verify: require}]",
	    "t:1:63: listen.verify: given without client_ca, expected the "
	    "file of the CAs that sign client certificates\n" },
	{ IN_TLS ", verify: yes}]",
	    "t:1:71: listen.verify: 'yes' is none of these, expected none, "
	    "optional or require\n" },
	{ IN_TLS ", min_version: \"1.1\"}]",
	    "t:1:76: listen.min_version: '1.1' is not a supported version, "
	    "expected \"1.2\" or \"1.3\"\n" },
	{ "listen: [{tcp: [a]}]", "t:1:16: listen.tcp: is a list, expected a "
				  "single value\n" },
	{ "listen: [{tcp: ~}]",
	    "t:1:10: listen: has neither tcp, tls, unix nor http, expected a "
	    "mapping with either tcp, tls, unix or http\n" },
	{ "listen: [~]", "t:1:10: listen: is a single value, expected a "
			 "mapping with either tcp, tls, unix or http\n" },
	{ "locks: {warm_names: [a, null]}",
	    "t:1:25: locks.warm_names: has no value, expected a name, or a "
	    "prefix followed by '*'\n" },
	{ "broker: {name: ~, name: a}",
	    "t:1:19: broker.name: given twice: first set on line 1\n" },
	{ "redis: {usr: ~}",
	    "t:1:9: redis.usr: unknown key, did you mean redis.user?\n" },
	{ "metrics: {classes: [{name: ~, names: [a]}]}",
	    "t:1:21: metrics.classes: has no name, expected a mapping with "
	    "name and names\n" },
	{ "listen: [{tcp: }]", "t:1:16: listen.tcp: '' is empty, " IN_TCP },
	{ "listen: [{tcp: a}]",
	    "t:1:16: listen.tcp: 'a' has no port, " IN_TCP },
	{ "listen: [{tcp: 5625}]",
	    "t:1:16: listen.tcp: '5625' has no host, " IN_TCP },
	{ "listen: [{tcp: \"*:5625\"}]",
	    "t:1:16: listen.tcp: '*:5625' has a character that host names "
	    "cannot have, " IN_TCP },
	{ "listen: [{tpc: \"a:1\"}]",
	    "t:1:11: listen.tpc: unknown key, did you mean listen.tcp?\n" },
	{ "listen: [{tls: \"a:1\", cert: a}]",
	    "t:1:11: listen.tls: has no certificate or no key, expected both "
	    "with it\n"
	    "t:1:23: listen.cert: unknown key, did you mean "
	    "listen.certificate?\n" },
	{ "listen: [{tcp: \":1\"}]",
	    "t:1:16: listen.tcp: ':1' has no host, " IN_TCP },
	{ "listen: [{tcp: \"a:65536\"}]",
	    "t:1:16: listen.tcp: 'a:65536' has no valid port, " IN_TCP },
	{ "listen: [{tcp: \"a:01\"}]",
	    "t:1:16: listen.tcp: 'a:01' has no valid port, " IN_TCP },
	{ "listen: [{tcp: \"a:-1\"}]",
	    "t:1:16: listen.tcp: 'a:-1' has no valid port, " IN_TCP },
	{ "listen: [{tcp: \"::1:80\"}]",
	    "t:1:16: listen.tcp: '::1:80' has too many colons; an IPv6 address "
	    "needs brackets, " IN_TCP },
	{ "listen: [{tcp: \"[::1]\"}]",
	    "t:1:16: listen.tcp: '[::1]' has no port, " IN_TCP },
	{ "listen: [{tcp: \"[:\"}]",
	    "t:1:16: listen.tcp: '[:' lacks a ']', " IN_TCP },
	{ "listen: [{tcp: \"[]:1\"}]",
	    "t:1:16: listen.tcp: '[]:1' has no host, " IN_TCP },
	{ "listen: [{tcp: \"[1.2.3.4]:1\"}]",
	    "t:1:16: listen.tcp: '[1.2.3.4]:1' has no valid IPv6 address in "
	    "brackets, " IN_TCP },
	{ "listen: [{tcp: \"[::1%]:1\"}]",
	    "t:1:16: listen.tcp: '[::1%]:1' has no valid IPv6 address in "
	    "brackets, " IN_TCP },
	{ "listen: [{tcp: \"[::1%a/b]:1\"}]",
	    "t:1:16: listen.tcp: '[::1%a/b]:1' has no valid IPv6 address in "
	    "brackets, " IN_TCP },
	{ "listen: [{tcp: \"256.1.1.1:1\"}]",
	    "t:1:16: listen.tcp: '256.1.1.1:1' has no valid IPv4 "
	    "address, " IN_TCP },
	{ "listen: [{tcp: \"a b:1\"}]",
	    "t:1:16: listen.tcp: 'a b:1' has a character that host names "
	    "cannot have, " IN_TCP },
	{ "listen: [{tcp: \"a:1\"}, {tcp: \"A:1\"}]",
	    "t:1:24: listen: the same address is given twice, expected once\n" },
	{ "listen: [{unix: a}]",
	    "t:1:17: listen.unix: 'a' is not an absolute path, " IN_UNIX },
	{ "listen: [{unix: \"/a\\tb\"}]",
	    "t:1:17: listen.unix: '/a\\x09b' has a control character in "
	    "it, " IN_UNIX },
	{ "listen: [{unix: /" X20 X20 X20 X20 X20 "1234567}]",
	    "t:1:17: listen.unix: '/" X20
	    "xxxxxxxxxxxxxxxxxxx...' is too long for the path of a Unix "
	    "socket, " IN_UNIX },
	{ "listen: [{unix: /a, mode: \"0888\"}]",
	    "t:1:27: listen.mode: '0888' is not a mode, " IN_MODE },
	{ "listen: [{unix: /a, mode: 66}]",
	    "t:1:27: listen.mode: '66' is not a mode, " IN_MODE },
	{ "listen: [{unix: /a, mode: 4755}]",
	    "t:1:27: listen.mode: '4755' has more than permissions, " IN_MODE },
	{ "listen: [{unix: /a, group: a b}]",
	    "t:1:28: listen.group: 'a b' has a character that group names cannot have, "
	    "expected the name of a group\n" },
	{ "listen: [{unix: /a, group: no-such-group}]",
	    "t:1:28: listen.group: 'no-such-group' is not a group on this host, expected "
	    "the name of a group\n" },
	{ "listen: [{unix: a, mode: x, group: \"a:\"}]",
	    "t:1:17: listen.unix: 'a' is not an absolute path, " IN_UNIX
	    "t:1:26: listen.mode: 'x' is not a mode, " IN_MODE
	    "t:1:36: listen.group: 'a:' has a character that group names cannot have, "
	    "expected the name of a group\n" },

	/* redis: single settings */
	{ "redis: {mode: sentinal}",
	    "t:1:15: redis.mode: 'sentinal' is unknown, expected embedded, "
	    "standalone, sentinel, cluster or quorum; did you mean "
	    "sentinel?\n" },
	{ "redis: {mode: redis}",
	    "t:1:15: redis.mode: 'redis' is unknown, expected embedded, "
	    "standalone, sentinel, cluster or quorum\n" },
	{ "redis: {mode: standalone, nodes: a:1}",
	    "t:1:34: redis.nodes: is a single value, expected a list "
	    "of HOST:PORT, [V6]:PORT or unix:/PATH\n" },
	{ "redis: {mode: standalone, nodes: [[a]]}",
	    "t:1:35: redis.nodes: is a list, " IN_NODE },
	{ "redis: {mode: standalone, nodes: [a:0]}",
	    "t:1:35: redis.nodes: 'a:0' has no valid port, " IN_NODE },
	{ "redis: {mode: standalone, nodes: [\"redis://me:secret@h:1/0\"]}",
	    "t:1:35: redis.nodes: 'redis://...@h:1/0' is a URL; put its "
	    "user, password, database and TLS into redis.user, "
	    "redis.password_file, redis.database and redis.tls, " IN_NODE },
	{ "redis: {mode: standalone, nodes: [\"me:secret@h:1\"]}",
	    "t:1:35: redis.nodes: '...@h:1' has a user before the host, " IN_NODE },
	{ "redis: {mode: standalone, nodes: [\"unix:a\"]}",
	    "t:1:35: redis.nodes: 'unix:a' is not an absolute path, " IN_NODE },
	{ "redis: {mode: quorum, nodes: [a:1, b:1, a:1]}",
	    "t:1:41: redis.nodes: 'a:1' is given twice, expected each node "
	    "once\n" },
	{ "redis: {server: \"\"}",
	    "t:1:17: redis.server: '' is empty, expected text of 1 to 4096 "
	    "bytes\n" },
	{ "redis: {user: \"a\\x01\"}",
	    "t:1:15: redis.user: 'a\\x01' has a control character in it, "
	    "expected text of 0 to 256 bytes\n" },
	{ "redis: {user: \"a\\u009b\"}",
	    "t:1:15: redis.user: 'a\\x9b' has a control character in it, "
	    "expected text of 0 to 256 bytes\n" },
	{ "redis: {password: [secret]}",
	    "t:1:19: redis.password: is a list, expected text of 0 to 4096 "
	    "bytes\n" },
	{ "redis: {tls: yes}", "t:1:14: redis.tls: 'yes' is not true or "
			       "false, expected true or false\n" },
	{ "redis: {trust_new: \"true\"}",
	    "t:1:20: redis.trust_new: 'true' is in quotes, expected true or "
	    "false\n" },
	{ "redis: {trust_new: }", "t:1:20: redis.trust_new: has no value, "
				  "expected true or false\n" },
	{ "redis: {database: -1}",
	    "t:1:19: redis.database: '-1' is not a whole number, expected a "
	    "number from 0 to 65535\n" },
	{ "redis: {connections: 65}",
	    "t:1:22: redis.connections: '65' is out of range, expected a "
	    "number from 1 to 64\n" },
	{ "redis: {connections: 02}",
	    "t:1:22: redis.connections: '02' begins with a zero, expected a "
	    "number from 1 to 64\n" },
	{ "redis: {connect_timeout: 9ms}",
	    "t:1:26: redis.connect_timeout: '9ms' is out of range, " IN_DURATION
	    "10ms to 1h\n" },
	{ "redis: {reply_timeout: 0}",
	    "t:1:24: redis.reply_timeout: '0' is out of range, " IN_DURATION
	    "10ms to 1h\n" },
	{ "redis: {prefix: a b}",
	    "t:1:17: redis.prefix: 'a b' has a space in it, expected at most "
	    "64 bytes of text without spaces\n" },
	{ "redis: {prefix: \"a\\nb\"}",
	    "t:1:17: redis.prefix: 'a\\x0ab' has a control character in it, "
	    "expected at most 64 bytes of text without spaces\n" },
	{ STANDALONE "  replicas: 65",
	    "t:4:13: redis.replicas: '65' is out of range, expected a number "
	    "from 0 to 64\n" },

	/* redis: settings that depend on each other */
	{ "redis: {nodes: [a:1], user: u, password: p}",
	    "t:1:16: redis.nodes: 1 node is given without redis.mode, " OF_MODE },
	{ "redis: {nodes: [a:1, b:1]}",
	    "t:1:16: redis.nodes: nodes are given without redis.mode, " OF_MODE },
	{ "redis: {mode: embedded, nodes: [a:1]}",
	    "t:1:32: redis.nodes: 1 node is given, expected none with "
	    "redis.mode embedded\n" },
	{ "redis: {replicas: 1}",
	    "t:1:19: redis.replicas: 1 given, expected 0 with redis.mode "
	    "embedded, which has no replicas\n" },
	{ "redis: {mode: standalone}",
	    "t:1:15: redis.nodes: 0 nodes are given, expected exactly 1 with "
	    "redis.mode standalone\n" },
	{ "redis: {mode: standalone, nodes: [a:1, a:2]}",
	    "t:1:34: redis.nodes: 2 nodes are given, expected exactly 1 with "
	    "redis.mode standalone\n" },
	{ "redis: {mode: sentinel}",
	    "t:1:15: redis.nodes: 0 nodes are given, expected at least 1 with "
	    "redis.mode sentinel\n"
	    "t:1:15: redis.master: not given, expected the master's name with "
	    "redis.mode sentinel\n"
	    "t:1:15: redis.replicas: not given, expected the number of "
	    "attached replicas with redis.mode sentinel (0 is allowed, and "
	    "unsafe)\n" },
	{ "redis: {mode: cluster}",
	    "t:1:15: redis.nodes: 0 nodes are given, expected at least 1 with "
	    "redis.mode cluster\n"
	    "t:1:15: redis.replicas: not given, expected the number of "
	    "attached replicas with redis.mode cluster (0 is allowed, and "
	    "unsafe)\n" },
	{ "redis: {mode: quorum, nodes: [a:1, a:2]}",
	    "t:1:30: redis.nodes: 2 nodes are given, expected 3 to 9 with "
	    "redis.mode quorum\n" },
	{ "redis: {mode: quorum, nodes: [a:1, a:2, a:3, a:4, a:5, a:6, a:7, "
	  "a:8, a:9, a:10]}",
	    "t:1:30: redis.nodes: 10 nodes are given, expected 3 to 9 with "
	    "redis.mode quorum\n" },
	{ STANDALONE "  master: m\n  sentinel_user: u\n"
		     "  sentinel_password_file: /f",
	    "t:4:11: redis.master: given with redis.mode standalone, expected "
	    "only with redis.mode sentinel\n"
	    "t:5:18: redis.sentinel_user: given with redis.mode standalone, "
	    "expected only with redis.mode sentinel\n"
	    "t:6:27: redis.sentinel_password_file: given with redis.mode "
	    "standalone, expected only with redis.mode sentinel\n"
	    "t:6:27: redis.sentinel_password_file: '/f' cannot be read (No such "
	    "file or directory), expected a readable file with a password\n" },
	{ "redis: {user: u, password: p, database: 1}",
	    "t:1:15: redis.user: given with redis.mode embedded, expected "
	    "nothing: its server is private\n"
	    "t:1:28: redis.password: given with redis.mode embedded, expected "
	    "nothing: its server is private\n"
	    "t:1:41: redis.database: 1 given, expected 0 with redis.mode "
	    "embedded, whose server is private\n" },
	{ "redis: {password_file: /none}",
	    "t:1:24: redis.password_file: given with redis.mode embedded, "
	    "expected nothing: its server is private\n"
	    "t:1:24: redis.password_file: '/none' cannot be read (No such file "
	    "or directory), expected a readable file with a password\n" },
	{ CLUSTER "  database: 1",
	    "t:5:13: redis.database: 1 given, expected 0 with redis.mode "
	    "cluster, which has no others\n" },
	{ CLUSTER "  prefix: \"{a\"",
	    "t:5:11: redis.prefix: contains a brace, expected none with "
	    "redis.mode cluster\n" },
	{ STANDALONE "  password: secret\n  password_file: /none",
	    "t:5:18: redis.password_file: given with redis.password, "
	    "expected only one of them\n" },
	{ STANDALONE "  password_file: /none",
	    "t:4:18: redis.password_file: '/none' cannot be read (No such file "
	    "or directory), expected a readable file with a password\n" },
	{ STANDALONE "  password_file: /",
	    "t:4:18: redis.password_file: '/' cannot be read (not a regular file), "
	    "expected a readable file with a password\n" },
	{ STANDALONE "  tls_ca: /a\n  tls_cert: /b\n  tls_key: /c",
	    "t:4:11: redis.tls_ca: given while redis.tls is false, expected "
	    "only with redis.tls true\n"
	    "t:5:13: redis.tls_cert: given while redis.tls is false, expected "
	    "only with redis.tls true\n"
	    "t:6:12: redis.tls_key: given while redis.tls is false, expected "
	    "only with redis.tls true\n" },

	/* locks */
	{ "locks: {lease: 30}",
	    "t:1:16: locks.lease: '30' has no unit, " IN_DURATION
	    "1s to 1d\n" },
	{ "locks: {lease: 999ms}",
	    "t:1:16: locks.lease: '999ms' is out of range, " IN_DURATION
	    "1s to 1d\n" },
	{ "locks: {lease: {a: 1}}",
	    "t:1:16: locks.lease: is a mapping, " IN_DURATION "1s to 1d\n" },
	{ "locks: {handovers: 0}",
	    "t:1:20: locks.handovers: '0' is out of range, expected a number "
	    "from 1 to 1000000\n" },
	{ "locks: {max_grace: 366d}",
	    "t:1:20: locks.max_grace: '366d' is longer than 365d, " IN_DURATION
	    "0 to 365d\n" },
	{ "locks: {max_hold: 1s, default_hold: 2s}",
	    "t:1:37: locks.default_hold: longer than locks.max_hold, expected "
	    "at most that\n" },
	{ "locks: {lease: 5s, warm: 501ms}",
	    "t:1:26: locks.warm: longer than a tenth of locks.lease, expected "
	    "at most that: a broker that dies keeps the name for its "
	    "lease\n" },
	{ "locks: {warm_names: [\"%u/*\"]}",
	    "t:1:22: locks.warm_names: '%u/*' has a user in it, expected a "
	    "name, or a prefix followed by '*'\n" },

	/* limits */
	{ "limits: {clients: 1.5}",
	    "t:1:19: limits.clients: '1.5' is not a whole number, " IN_10M },
	{ "limits: {clients: 0}",
	    "t:1:19: limits.clients: '0' is out of range, " IN_10M },
	{ "limits: {line: 63}",
	    "t:1:16: limits.line: '63' is out of range, expected a number of "
	    "bytes or a size such as 4KB, from 64B to 1MB\n" },
	{ "limits: {output: 65536}",
	    "t:1:18: limits.output: '65536' has no unit (B, KB, MB or GB), "
	    "expected a size such as 64KB or 1MB, from 1KB to 1GB\n" },
	{ "limits: {output: 1KiB}",
	    "t:1:18: limits.output: '1KiB' has an unknown unit (there are B, "
	    "KB, MB and GB), expected a size such as 64KB or 1MB, from 1KB to "
	    "1GB\n" },
	{ "limits: {output: 0}",
	    "t:1:18: limits.output: '0' is out of range, expected a size such "
	    "as 64KB or 1MB, from 1KB to 1GB\n" },
	{ "limits: {output: KB}",
	    "t:1:18: limits.output: 'KB' is not a size, expected a size such as "
	    "64KB or 1MB, from 1KB to 1GB\n" },
	{ "limits: {output: 01KB}",
	    "t:1:18: limits.output: '01KB' begins with a zero, expected a size "
	    "such as 64KB or 1MB, from 1KB to 1GB\n" },
	{ "limits: {output: 17179869185GB}",
	    "t:1:18: limits.output: '17179869185GB' is out of range, expected "
	    "a size such as 64KB or 1MB, from 1KB to 1GB\n" },
	{ "limits: {holds: 0}",
	    "t:1:17: limits.holds: '0' is out of range, " IN_10M },
	{ "limits: {requests: x}",
	    "t:1:20: limits.requests: 'x' is not a whole number, expected a "
	    "number from 1 to 1000000\n" },
	{ "limits: {waiters: 4294967297}",
	    "t:1:19: limits.waiters: '4294967297' is out of range, " IN_10M },
	{ "limits: {first_line: 2d}",
	    "t:1:22: limits.first_line: '2d' is out of range, " IN_DURATION
	    "0 to 1d\n" },
	{ "resp: {park: 61m}",
	    "t:1:14: resp.park: '61m' is out of range, " IN_DURATION
	    "0 to 1h\n" },
	{ "limits: {unreachable: 0}",
	    "t:1:23: limits.unreachable: '0' is out of range, " IN_DURATION
	    "1s to 8h\n" },

	/* log */
	{ "log: {level: INFO}",
	    "t:1:14: log.level: 'INFO' is unknown, expected debug, info, "
	    "notice, warning or error; did you mean info?\n" },
	{ "log: {to: file}", "t:1:11: log.to: 'file' is unknown, expected "
			     "stderr or syslog\n" },
	{ "log: {format: xml}", "t:1:15: log.format: 'xml' is unknown, "
				"expected text or json\n" },

	/* Many faults at once, in the order of the file. */
	{ "redis:\n  mode: quorum\n  nodes: [\"a:1\"]\nlocks:\n  lease: 5\n"
	  "  lease: 5s\nlisen: []\nlog: {to: &x here}\n",
	    "t:3:10: redis.nodes: 1 node is given, expected 3 to 9 with "
	    "redis.mode quorum\n"
	    "t:5:10: locks.lease: '5' has no unit, " IN_DURATION "1s to 1d\n"
	    "t:6:3: locks.lease: given twice: first set on line 5\n"
	    "t:7:1: lisen: unknown key, did you mean listen?\n"
	    "t:8:11: log.to: has an anchor (&), expected a plain value: " REFUSED
	    "t:8:11: log.to: 'here' is unknown, expected stderr or syslog\n" },
};

#endif
