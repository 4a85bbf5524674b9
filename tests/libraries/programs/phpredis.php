<?php
// The two scripts of the manual of Redis, by phpredis.
const RELEASE = 'if redis.call("get",KEYS[1]) == ARGV[1] then return redis.call("del",KEYS[1]) else return 0 end';
const EXTEND = 'if redis.call("get",KEYS[1]) == ARGV[1] then return redis.call("pexpire",KEYS[1],ARGV[2]) else return 0 end';

function connect($port) {
    $redis = new Redis();
    $redis->connect("127.0.0.1", (int)$port);
    return $redis;
}

function say($what, $result) {
    echo "$what ", json_encode($result), "\n";
}

$witness = explode(" ", getenv("WITNESS") ?: "");
// Takes the lock again and again, until it is killed.
while (count($witness) == 2) {
    try {
        $redis = connect($argv[1 + $witness[1] % 2]);
        $token = bin2hex(random_bytes(8));
        while (!$redis->set("busy", $token, ["nx", "px" => 6000]))
            usleep(10000);
        $socket = fsockopen("127.0.0.1", (int)$witness[0]);
        fwrite($socket, "$witness[1]\n");
        fread($socket, 1);
        fclose($socket);
        if ($redis->eval(RELEASE, ["busy", $token], 1) !== 1)
            throw new RedisException("it was lost: " . $redis->getLastError());
    } catch (RedisException $error) {
        echo "error ", str_replace("\n", " ", $error->getMessage()), "\n";
        usleep(50000);
    }
}
$one = connect($argv[1]);
$other = connect($argv[2]);
say("take", $one->set("job", "t", ["nx", "px" => 20000]));
say("another is refused", $other->set("job", "u", ["nx", "px" => 20000]));
say("look", $other->get("job"));
say("extend", $one->eval(EXTEND, ["job", "t", 30000], 1));
say("another extends", $other->eval(EXTEND, ["job", "u", 30000], 1));
say("release of another's", $other->eval(RELEASE, ["job", "u"], 1));
say("release", $one->eval(RELEASE, ["job", "t"], 1));
say("release again", $one->eval(RELEASE, ["job", "t"], 1));
say("take for a while", $one->set("job", "v", ["nx", "px" => 200]));
usleep(400000);
say("extend what is over", $one->eval(EXTEND, ["job", "v", 1000], 1));
say("take what is over", $other->set("job", "w", ["nx", "px" => 20000]));
say("delete it", $other->del("job"));
