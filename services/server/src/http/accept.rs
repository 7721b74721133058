//! Accepts connections: a limit on their number, a timeout for headers, a graceful shutdown.

use std::{
    collections::HashMap,
    convert::Infallible,
    io,
    net::{IpAddr, SocketAddr},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use axum::{body::Body, http::Request};
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::{
    net::{TcpListener, TcpSocket, TcpStream},
    sync::{Notify, OwnedSemaphorePermit, Semaphore, watch},
};
use tower_service::Service;

use super::{Peer, Routes, rates::bucket_key, set_security_headers};

/// The largest request head (request line and headers), in bytes.
const HEAD_BYTES: usize = 32 * 1024;

/// Size of the kernel's send buffer per connection, in bytes.
const SEND_BUFFER: u32 = 256 * 1024;
/// Length of the queue of connections not yet accepted.
const BACKLOG: u32 = 1024;

pub(crate) fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    socket.set_reuseaddr(true)?;
    // Accepted connections inherit it.
    socket.set_send_buffer_size(SEND_BUFFER)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

/// Limits on client connections.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ConnectionLimits {
    pub(crate) max_connections: usize,
    /// Per address; `None` behind a proxy, whose address all clients have.
    pub(crate) max_per_address: Option<usize>,
    /// How long a client may take to send the request head; also the idle timeout.
    pub(crate) header_timeout: Duration,
    /// How long open requests may take after shutdown begins.
    pub(crate) drain_timeout: Duration,
}

/// A slot of the connection limit, held until the connection or its WebSocket closes.
#[derive(Clone, Debug)]
pub(super) struct Connection {
    _permit: Arc<OwnedSemaphorePermit>,
    _of_address: Option<Arc<OfAddress>>,
    aborted: Arc<Notify>,
}

impl Connection {
    /// Closes the connection without waiting for the response.
    pub(super) fn abort(&self) {
        self.aborted.notify_one();
    }
}

/// How many connections each address has.
#[derive(Clone, Debug, Default)]
struct Addresses(Arc<Mutex<HashMap<IpAddr, usize>>>);

/// A connection that is counted for its address until it is dropped.
#[derive(Debug)]
struct OfAddress {
    addresses: Addresses,
    address: IpAddr,
}

impl Addresses {
    /// Counts a connection, unless its address has as many as it may.
    fn enter(&self, address: IpAddr, max: usize) -> Option<OfAddress> {
        let address = bucket_key(address);
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let count = counts.entry(address).or_default();
        if *count >= max {
            return None;
        }
        *count += 1;
        Some(OfAddress { addresses: self.clone(), address })
    }
}

impl Drop for OfAddress {
    fn drop(&mut self) {
        let mut counts = self.addresses.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = counts.get_mut(&self.address) {
            *count -= 1;
            if *count == 0 {
                counts.remove(&self.address);
            }
        }
    }
}

/// Serves connections until `stop` is set, then drains them.
pub(crate) async fn accept(
    listener: TcpListener,
    routes: Routes,
    limits: ConnectionLimits,
    mut stop: watch::Receiver<bool>,
) {
    let slots = Arc::new(Semaphore::new(limits.max_connections));
    let addresses = Addresses::default();
    loop {
        let accepted = async {
            let permit = Arc::clone(&slots).acquire_owned().await;
            (permit, listener.accept().await)
        };
        let (permit, accepted) = tokio::select! {
            accepted = accepted => accepted,
            () = stopped(&mut stop) => break,
        };
        let Ok(permit) = permit else { break };
        match accepted {
            Ok((stream, peer)) => {
                let of_address = match limits.max_per_address {
                    None => None,
                    Some(max) => match addresses.enter(peer.ip(), max) {
                        Some(of_address) => Some(Arc::new(of_address)),
                        // Closed at once: an answer would cost more than the connection.
                        None => continue,
                    },
                };
                let connection = Connection {
                    _permit: Arc::new(permit),
                    _of_address: of_address,
                    aborted: Arc::default(),
                };
                let header_timeout = limits.header_timeout;
                let routes = routes.clone();
                tokio::spawn(serve(stream, peer, routes, header_timeout, connection, stop.clone()));
            }
            // For example too many open files: retry after a pause.
            Err(error) => {
                tracing::warn!(%error, "accept failed");
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        }
    }
    drop(listener);
    // All connections are closed once every slot is free.
    let all = u32::try_from(limits.max_connections).unwrap_or(u32::MAX);
    if tokio::time::timeout(limits.drain_timeout, slots.acquire_many(all)).await.is_err() {
        tracing::warn!("shutdown timeout: closing the remaining connections");
    }
}

/// Waits until `stop` is set or its sender is dropped.
async fn stopped(stop: &mut watch::Receiver<bool>) {
    stop.wait_for(|&stop| stop).await.ok();
}

async fn serve(
    stream: TcpStream,
    peer: SocketAddr,
    routes: Routes,
    header_timeout: Duration,
    connection: Connection,
    mut stop: watch::Receiver<bool>,
) {
    let aborted = Arc::clone(&connection.aborted);
    // Responses are written whole, so Nagle's algorithm would only delay them.
    stream.set_nodelay(true).ok();
    // One request of a connection is answered at a time; copying the routes for each costs more
    // than this lock.
    let routes = Mutex::new(routes);
    let service = service_fn(move |mut request: Request<Incoming>| {
        request.extensions_mut().insert(Peer(peer));
        request.extensions_mut().insert(connection.clone());
        let mut routes = routes.lock().unwrap_or_else(PoisonError::into_inner);
        let answered = routes.call(request.map(Body::new));
        async {
            let mut response = answered.await?;
            set_security_headers(response.headers_mut());
            Ok::<_, Infallible>(response)
        }
    });
    let http = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(header_timeout)
        .max_buf_size(HEAD_BYTES)
        .serve_connection(TokioIo::new(stream), service)
        .with_upgrades();
    let mut http = std::pin::pin!(http);
    let ended = tokio::select! {
        ended = http.as_mut() => ended,
        () = aborted.notified() => return,
        () = stopped(&mut stop) => {
            http.as_mut().graceful_shutdown();
            http.await
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%error, %peer, "connection error");
    }
}
