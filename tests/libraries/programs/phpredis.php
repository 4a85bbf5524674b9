<?php
// phpredis.
class Connection {
    private $redis;

    function __construct($port) {
        $this->redis = new Redis();
        $this->redis->connect("127.0.0.1", (int)$port);
    }

    function take($name, $token, $ms) {
        return $this->redis->set($name, $token, ["nx", "px" => $ms]);
    }

    function run($script, ...$words) {
        $said = $this->redis->eval($script, $words, 1);
        if ($said === false)
            throw new RedisException($this->redis->getLastError());
        return $said;
    }

    function get($name) {
        return $this->redis->get($name);
    }

    function del($name) {
        return $this->redis->del($name);
    }
}

require __DIR__ . "/common.php";
