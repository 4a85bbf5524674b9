// The two scripts of the manual of Redis, by redis-rs.
mod common;
use common::{addresses, busy_ms, contend, pause, say, unique};
use redis::{Commands, Connection, ExistenceCheck, RedisResult, Script, SetExpiry, SetOptions};

const RELEASE: &str = "if redis.call('get', KEYS[1]) == ARGV[1] then \
    return redis.call('del', KEYS[1]) else return 0 end";
const EXTEND: &str = "if redis.call('get', KEYS[1]) == ARGV[1] then \
    return redis.call('pexpire', KEYS[1], ARGV[2]) else return 0 end";

fn connect(address: &str) -> Connection {
    redis::Client::open(address).unwrap().get_connection().unwrap()
}

fn take(c: &mut Connection, name: &str, token: &str, ms: u64) -> RedisResult<Option<String>> {
    let options = SetOptions::default()
        .conditional_set(ExistenceCheck::NX)
        .with_expiration(SetExpiry::PX(ms));
    c.set_options(name, token, options)
}

fn release(c: &mut Connection, name: &str, token: &str) -> RedisResult<i64> {
    Script::new(RELEASE).key(name).arg(token).invoke(c)
}

fn extend(c: &mut Connection, token: &str, ms: u64) -> RedisResult<i64> {
    Script::new(EXTEND).key("job").arg(token).arg(ms).invoke(c)
}

fn main() {
    let all = addresses();
    contend(|number, work| {
        let client = redis::Client::open(all[number % 2].as_str())?;
        let (mut c, token) = (client.get_connection()?, unique());
        while take(&mut c, "busy", &token, busy_ms())?.is_none() {
            pause(10);
        }
        work();
        release(&mut c, "busy", &token)
    });
    let (mut a, mut b) = (connect(&all[0]), connect(&all[1]));
    say("take", take(&mut a, "job", "t", 20000));
    say("another is refused", take(&mut b, "job", "u", 20000));
    say("look", b.get::<_, Option<String>>("job"));
    say("extend", extend(&mut a, "t", 30000));
    say("another extends", extend(&mut b, "u", 30000));
    say("release of another's", release(&mut b, "job", "u"));
    say("release", release(&mut a, "job", "t"));
    say("release again", release(&mut a, "job", "t"));
    say("take for a while", take(&mut a, "job", "v", 200));
    pause(400);
    say("extend what is over", extend(&mut a, "v", 1000));
    say("take what is over", take(&mut b, "job", "w", 20000));
    say("delete it", b.del::<_, i64>("job"));
}
