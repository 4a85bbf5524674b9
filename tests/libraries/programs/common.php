<?php
// The two scripts of the manual of Redis, by a Connection(PORT) of the program:
// take(NAME, TOKEN, MS), run(SCRIPT, NAME, ...), get(NAME), del(NAME).
const RELEASE = 'if redis.call("get",KEYS[1]) == ARGV[1] then return redis.call("del",KEYS[1]) else return 0 end';
const EXTEND = 'if redis.call("get",KEYS[1]) == ARGV[1] then return redis.call("pexpire",KEYS[1],ARGV[2]) else return 0 end';

function say($what, $result) {
    echo "$what ", json_encode($result), "\n";
}

$witness = explode(" ", getenv("WITNESS") ?: "");
// Takes the lock again and again, until it is killed.
while (count($witness) == 2) {
    try {
        $redis = new Connection($argv[1 + $witness[1] % 2]);
        $token = bin2hex(random_bytes(8));
        while (!$redis->take("busy", $token, 6000))
            usleep(10000);
        $socket = fsockopen("127.0.0.1", (int)$witness[0]);
        fwrite($socket, "$witness[1]\n");
        fread($socket, 1);
        fclose($socket);
        if ($redis->run(RELEASE, "busy", $token) !== 1)
            throw new RuntimeException("it was lost");
    } catch (Exception $error) {
        echo "error ", str_replace("\n", " ", $error->getMessage()), "\n";
        usleep(50000);
    }
}
$one = new Connection($argv[1]);
$other = new Connection($argv[2]);
say("take", $one->take("job", "t", 20000));
say("another is refused", $other->take("job", "u", 20000));
say("look", $other->get("job"));
say("extend", $one->run(EXTEND, "job", "t", 30000));
say("another extends", $other->run(EXTEND, "job", "u", 30000));
say("release of another's", $other->run(RELEASE, "job", "u"));
say("release", $one->run(RELEASE, "job", "t"));
say("release again", $one->run(RELEASE, "job", "t"));
say("take for a while", $one->take("job", "v", 200));
usleep(400000);
say("extend what is over", $one->run(EXTEND, "job", "v", 1000));
say("take what is over", $other->take("job", "w", 20000));
say("delete it", $other->del("job"));
