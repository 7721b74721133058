//! Taking connections: so many at once, none that only pretends to speak, and a clean end.

use std::{io, net::SocketAddr, sync::Arc, time::Duration};

use axum::{Router, body::Body, http::Request};
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::{
    net::{TcpListener, TcpSocket, TcpStream},
    sync::{Notify, OwnedSemaphorePermit, Semaphore, watch},
};
use tower_service::Service;

use super::Peer;

/// The largest head of a request, in bytes.
const HEAD_BYTES: usize = 32 * 1024;

/// How many bytes wait in the system for a client that does not read.
const SEND_BUFFER: u32 = 256 * 1024;
/// How many clients wait to be accepted.
const BACKLOG: u32 = 1024;

/// Listens on an address.
pub(crate) fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    socket.set_reuseaddr(true)?;
    // Connections take it over.
    socket.set_send_buffer_size(SEND_BUFFER)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

/// How many connections there may be, and how patient we are with them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Crowd {
    pub(crate) most: usize,
    /// How long the head of a request may take, and how long a connection may be idle.
    pub(crate) head: Duration,
    /// How long what is under way may take when the node stops.
    pub(crate) patience: Duration,
}

/// A place in the crowd, held by a connection, and by the socket that it becomes.
#[derive(Clone, Debug)]
pub(super) struct Place {
    _held: Arc<OwnedSemaphorePermit>,
    cut: Arc<Notify>,
}

impl Place {
    /// Ends the connection at once.
    pub(super) fn cut_off(&self) {
        self.cut.notify_one();
    }
}

/// Serves connections until told to stop, then finishes what is under way within a time.
pub(crate) async fn accept(
    listener: TcpListener,
    router: Router,
    crowd: Crowd,
    mut stop: watch::Receiver<bool>,
) {
    let room = Arc::new(Semaphore::new(crowd.most));
    loop {
        let accepted = async {
            let place = Arc::clone(&room).acquire_owned().await;
            (place, listener.accept().await)
        };
        let (place, accepted) = tokio::select! {
            accepted = accepted => accepted,
            () = told(&mut stop) => break,
        };
        let Ok(held) = place else { break };
        let place = Place { _held: Arc::new(held), cut: Arc::default() };
        match accepted {
            Ok((stream, peer)) => {
                tokio::spawn(serve(stream, peer, router.clone(), crowd.head, place, stop.clone()));
            }
            // Too many open files, for one: a moment later there may be room.
            Err(error) => {
                tracing::warn!(%error, "a connection could not be accepted");
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        }
    }
    drop(listener);
    // Everybody has gone when every place is free.
    let all = u32::try_from(crowd.most).unwrap_or(u32::MAX);
    if tokio::time::timeout(crowd.patience, room.acquire_many(all)).await.is_err() {
        tracing::warn!("some connections were cut off");
    }
}

/// Waits until it is said to stop, or nobody is left to say so.
async fn told(stop: &mut watch::Receiver<bool>) {
    stop.wait_for(|&stop| stop).await.ok();
}

async fn serve(
    stream: TcpStream,
    peer: SocketAddr,
    router: Router,
    head: Duration,
    place: Place,
    mut stop: watch::Receiver<bool>,
) {
    let cut = Arc::clone(&place.cut);
    // Answers are written whole; waiting for more of them only delays.
    stream.set_nodelay(true).ok();
    let service = service_fn(move |mut request: Request<Incoming>| {
        request.extensions_mut().insert(Peer(peer));
        request.extensions_mut().insert(place.clone());
        router.clone().call(request.map(Body::new))
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(head)
        .max_buf_size(HEAD_BYTES)
        .serve_connection(TokioIo::new(stream), service)
        .with_upgrades();
    let mut connection = std::pin::pin!(connection);
    let ended = tokio::select! {
        ended = connection.as_mut() => ended,
        () = cut.notified() => return,
        () = told(&mut stop) => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%error, %peer, "a connection broke");
    }
}
