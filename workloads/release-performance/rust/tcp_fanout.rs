//! Twenty clients ping twenty loopback listeners at once; each handler waits 100 ms, then pongs.

mod record;

use std::io;
use std::net::SocketAddr;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

const CLIENTS: usize = 20;
const WAIT: Duration = Duration::from_millis(100);
const PING: &[u8; 4] = b"ping";
const PONG: &[u8; 4] = b"pong";

fn listen() -> io::Result<std::net::TcpListener> {
    let listener = std::net::TcpListener::bind("127.0.0.1:0")?;
    listener.set_nonblocking(true)?;
    Ok(listener)
}

/// Reads exactly the expected bytes and returns how many they are.
async fn receive(stream: &mut TcpStream, expected: &[u8; 4]) -> io::Result<usize> {
    let mut message = [0; 4];
    stream.read_exact(&mut message).await?;
    if &message != expected {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "another message was expected"));
    }
    Ok(message.len())
}

async fn handle(listener: TcpListener) -> io::Result<usize> {
    let (mut stream, _) = listener.accept().await?;
    stream.set_nodelay(true)?;
    receive(&mut stream, PING).await?;
    tokio::time::sleep(WAIT).await;
    stream.write_all(PONG).await?;
    Ok(0)
}

async fn ask(address: SocketAddr) -> io::Result<usize> {
    let mut stream = TcpStream::connect(address).await?;
    stream.set_nodelay(true)?;
    stream.write_all(PING).await?;
    receive(&mut stream, PONG).await
}

async fn fan_out(listeners: Vec<std::net::TcpListener>) -> io::Result<usize> {
    let mut tasks = Vec::new();
    for listener in listeners {
        let address = listener.local_addr()?;
        tasks.push(tokio::spawn(handle(TcpListener::from_std(listener)?)));
        tasks.push(tokio::spawn(ask(address)));
    }
    let mut received = 0;
    for task in tasks {
        received += task.await.map_err(io::Error::from)??;
    }
    Ok(received)
}

fn run(listeners: Vec<std::net::TcpListener>) -> io::Result<usize> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(fan_out(listeners))
}

fn main() {
    let listeners: io::Result<Vec<_>> = (0..CLIENTS).map(|_| listen()).collect();
    let listeners = listeners.unwrap_or_else(|e| record::fail(&format!("tcp_fanout: {e}")));
    record::start(
        "READY release-performance tcp-fanout 20 100 4",
        "GO release-performance tcp-fanout",
    );
    let received = run(listeners).unwrap_or_else(|e| record::fail(&format!("tcp_fanout: {e}")));
    record::finish(&format!("DONE release-performance tcp-fanout {CLIENTS} {received}"));
}
