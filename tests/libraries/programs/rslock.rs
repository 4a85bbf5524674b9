// rslock.
#[allow(dead_code)]
mod common;
use common::{addresses, busy_ms, contend, pause, say};
use rslock::{LockError, LockManager};
use std::time::Duration;

fn manager(address: &str, tries: u32) -> LockManager {
    let mut manager = LockManager::new(vec![address.to_string()]);
    manager.set_retry(tries, Duration::from_millis(20));
    manager
}

async fn walk(all: &[String]) {
    let (one, other) = (manager(&all[0], 2), manager(&all[1], 2));
    let lock = one.lock("job", Duration::from_secs(20)).await.unwrap();
    say("another is refused", other.lock("job", Duration::from_secs(20)).await.is_err());
    say("extend", one.extend(&lock, Duration::from_secs(30)).await.is_ok());
    one.unlock(&lock).await;
    let short = one.lock("job", Duration::from_millis(500)).await.unwrap();
    pause(800);
    say("extend what is over", one.extend(&short, Duration::from_secs(1)).await.is_ok());
    let next = other.lock("job", Duration::from_secs(20)).await.unwrap();
    one.unlock(&short).await;
    say("it is another's", one.lock("job", Duration::from_secs(20)).await.is_err());
    other.unlock(&next).await;
    let last = one.lock("job", Duration::from_secs(20)).await;
    say("free", last.is_ok());
    one.unlock(&last.unwrap()).await;
}

fn main() {
    let (all, runtime) = (addresses(), tokio::runtime::Runtime::new().unwrap());
    let patient: Vec<_> = all.iter().map(|address| manager(address, 1000)).collect();
    contend(|number, work| {
        runtime.block_on(async {
            let busy = &patient[number % 2];
            let lock = busy.lock("busy", Duration::from_millis(busy_ms())).await?;
            work();
            busy.unlock(&lock).await;
            Ok::<_, LockError>(1)
        })
    });
    runtime.block_on(walk(&all));
}
