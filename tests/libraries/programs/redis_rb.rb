# The two scripts of the manual of Redis, by ruby-redis.
require "redis"
require "securerandom"
require "socket"
RELEASE = 'if redis.call("get",KEYS[1]) == ARGV[1] then return redis.call("del",KEYS[1]) else return 0 end'
EXTEND = 'if redis.call("get",KEYS[1]) == ARGV[1] then return redis.call("pexpire",KEYS[1],ARGV[2]) else return 0 end'

def say(what)
  result = yield
  puts "#{what} #{result.inspect}"
rescue Redis::BaseError => error
  puts "#{what} #{error.class}"
end

def busy(redis, ms)
  token = SecureRandom.hex
  sleep 0.01 until redis.set("busy", token, nx: true, px: ms)
  yield
  raise Redis::CommandError, "it was lost" if redis.eval(RELEASE, keys: ["busy"], argv: [token]) != 1
end

STDOUT.sync = true
one, other = ARGV.map { |port| Redis.new(host: "127.0.0.1", port: port.to_i) }
port, number = ENV.fetch("WITNESS", "").split.map(&:to_i)
# Takes the lock again and again, until it is killed.
while port
  begin
    busy([one, other][number % 2], 6000) do
      TCPSocket.open("127.0.0.1", port) do |witness|
        witness.puts number
        witness.read(1)
      end
    end
  rescue Redis::BaseError => error
    puts "error #{error.class}: #{error.message}".tr("\n", " ")
    sleep 0.05
  end
end
path, done, mutex = "/tmp/lbl-#{Process.pid}", 0, Mutex.new
threads = (0...8).map do |index|
  Thread.new do
    redis = Redis.new(host: "127.0.0.1", port: ARGV[index % 2].to_i)
    5.times do
      busy(redis, 20000) do
        File.open(path, File::CREAT | File::EXCL | File::WRONLY) {}
        File.unlink(path)
        mutex.synchronize { done += 1 }
      end
    end
  end
end
threads.each(&:join)
puts "contend #{done}"
say("take") { one.set("job", "t", nx: true, px: 20000) }
say("another is refused") { other.set("job", "u", nx: true, px: 20000) }
say("look") { other.get("job") }
say("extend") { one.eval(EXTEND, keys: ["job"], argv: ["t", 30000]) }
say("another extends") { other.eval(EXTEND, keys: ["job"], argv: ["u", 30000]) }
say("release of another's") { other.eval(RELEASE, keys: ["job"], argv: ["u"]) }
say("release") { one.eval(RELEASE, keys: ["job"], argv: ["t"]) }
say("take for a while") { one.set("job", "v", nx: true, px: 200) }
sleep 0.4
say("extend what is over") { one.eval(EXTEND, keys: ["job"], argv: ["v", 1000]) }
say("take what is over") { other.set("job", "w", nx: true, px: 20000) }
say("delete it") { other.del("job") }
