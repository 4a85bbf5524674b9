// What the programs in Rust share: each step says what it came to, in words.
use std::fmt::Debug;
use std::fs::{remove_file, OpenOptions};
use std::thread::sleep;
use std::time::Duration;

pub fn addresses() -> Vec<String> {
    std::env::args().skip(1).map(|port| format!("redis://127.0.0.1:{port}/")).collect()
}

pub fn say<T: Debug>(what: &str, result: T) {
    println!("{what} {result:?}");
}

pub fn pause(ms: u64) {
    sleep(Duration::from_millis(ms));
}

// A file that must not be there shows two at a time.
pub fn work() {
    let path = format!("/tmp/lbl-{}", std::process::id());
    OpenOptions::new().write(true).create_new(true).open(&path).unwrap();
    pause(1);
    remove_file(&path).unwrap();
}
