//! Taking connections: so many at once, none that only pretends to speak, and a clean end.

use std::{net::SocketAddr, sync::Arc, time::Duration};

use axum::{Router, body::Body, http::Request};
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::{Semaphore, watch},
    task::JoinSet,
};
use tower_service::Service;

use super::Peer;

/// How long the head of a request may take, and how long a connection may be idle.
const HEAD: Duration = Duration::from_secs(30);
/// The largest head of a request, in bytes.
const HEAD_BYTES: usize = 32 * 1024;

/// Serves connections until told to stop, then finishes what is under way within a time.
pub(crate) async fn accept(
    listener: TcpListener,
    router: Router,
    most: usize,
    mut stop: watch::Receiver<bool>,
    patience: Duration,
) {
    let room = Arc::new(Semaphore::new(most));
    let mut connections = JoinSet::new();
    loop {
        let Ok(place) = Arc::clone(&room).acquire_owned().await else { break };
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = told(&mut stop) => break,
        };
        match accepted {
            Ok((stream, peer)) => {
                let serving = serve(stream, peer, router.clone(), stop.clone());
                connections.spawn(async move {
                    serving.await;
                    drop(place);
                });
            }
            // Too many open files, for one: a moment later there may be room.
            Err(error) => {
                tracing::warn!(%error, "a connection could not be accepted");
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        }
        while connections.try_join_next().is_some() {}
    }
    drop(listener);
    let finished = async { while connections.join_next().await.is_some() {} };
    if tokio::time::timeout(patience, finished).await.is_err() {
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
    mut stop: watch::Receiver<bool>,
) {
    // Answers are written whole; waiting for more of them only delays.
    stream.set_nodelay(true).ok();
    let service = service_fn(move |mut request: Request<Incoming>| {
        request.extensions_mut().insert(Peer(peer));
        router.clone().call(request.map(Body::new))
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD)
        .max_buf_size(HEAD_BYTES)
        .serve_connection(TokioIo::new(stream), service)
        .with_upgrades();
    let mut connection = std::pin::pin!(connection);
    let ended = tokio::select! {
        ended = connection.as_mut() => ended,
        () = told(&mut stop) => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%error, %peer, "a connection broke");
    }
}
