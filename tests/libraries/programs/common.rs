// What the programs in Rust share: each step says what it came to, in words.
use std::fmt::Debug;
use std::fs::{remove_file, OpenOptions};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::thread::{scope, sleep};
use std::time::{Duration, Instant};

pub fn addresses() -> Vec<String> {
    std::env::args().skip(1).map(|port| format!("redis://127.0.0.1:{port}/")).collect()
}

// The port of the witness of faults.py and our number there, or nothing.
fn witness() -> Option<(u16, usize)> {
    let given = std::env::var("WITNESS").ok()?;
    let (port, number) = given.split_once(' ')?;
    Some((port.parse().ok()?, number.parse().ok()?))
}

pub fn busy_ms() -> u64 {
    witness().map_or(20000, |_| 6000)
}

pub fn say<T: Debug>(what: &str, result: T) {
    println!("{what} {result:?}");
}

pub fn pause(ms: u64) {
    sleep(Duration::from_millis(ms));
}

pub fn unique() -> String {
    format!("{} {:?}", std::process::id(), Instant::now())
}

// A file that must not be there shows two at a time.
fn work() {
    let path = format!("/tmp/lbl-{}", std::process::id());
    OpenOptions::new().write(true).create_new(true).open(&path).unwrap();
    pause(1);
    remove_file(&path).unwrap();
}

// While it has the lock: says so to the witness, and goes on when told to.
fn witnessed() {
    let (port, number) = witness().unwrap();
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    stream.write_all(format!("{number}\n").as_bytes()).unwrap();
    stream.read_exact(&mut [0]).unwrap();
}

// Takes the lock again and again, until it is killed.
fn hunt<E: Debug>(number: usize, turn: impl Fn(usize, fn()) -> Result<i64, E>) {
    loop {
        match turn(number, witnessed) {
            Ok(1) => continue,
            Ok(_) => println!("error: it was lost"),
            Err(error) => println!("error {error:?}"),
        }
        pause(50);
    }
}

pub fn contend<E: Debug>(turn: impl Fn(usize, fn()) -> Result<i64, E> + Sync) {
    if let Some((_, number)) = witness() {
        hunt(number, &turn);
    }
    scope(|scope| {
        for number in 0..8 {
            let turn = &turn;
            scope.spawn(move || {
                for _ in 0..5 {
                    turn(number, work).unwrap();
                }
            });
        }
    });
    println!("contend 40");
}
