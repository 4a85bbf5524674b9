<?php
// Predis.
require "Predis/autoload.php";

class Connection {
    private $redis;

    function __construct($port) {
        $this->redis = new Predis\Client(["host" => "127.0.0.1", "port" => (int)$port]);
    }

    function take($name, $token, $ms) {
        return $this->redis->set($name, $token, "PX", $ms, "NX") == "OK";
    }

    function run($script, ...$words) {
        return $this->redis->eval($script, 1, ...$words);
    }

    function get($name) {
        return $this->redis->get($name);
    }

    function del($name) {
        return $this->redis->del($name);
    }
}

require __DIR__ . "/common.php";
