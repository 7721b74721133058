//! What a client takes: GraphQL's own media type, plain JSON, or a stream of events.

use axum::http::{HeaderMap, header};

/// How an answer is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Media {
    /// `application/graphql-response+json`: the status tells whether the request was good.
    GraphqlResponse,
    /// `application/json`: whoever takes only this looks at the body.
    Json,
    /// `text/event-stream`: an answer comes in pieces.
    EventStream,
}

impl Media {
    pub(super) const fn content_type(self) -> &'static str {
        match self {
            Self::GraphqlResponse => "application/graphql-response+json; charset=utf-8",
            Self::Json => "application/json; charset=utf-8",
            Self::EventStream => "text/event-stream; charset=utf-8",
        }
    }

    /// The best one that the client takes; who does not say takes plain JSON.
    pub(super) fn choose(headers: &HeaderMap) -> Option<Self> {
        let mut asked = headers.get_all(header::ACCEPT).iter().peekable();
        if asked.peek().is_none() {
            return Some(Self::Json);
        }
        let ranges = asked.filter_map(|value| value.to_str().ok()).flat_map(|text| text.split(','));
        let mut best: Option<(f32, Self)> = None;
        for range in ranges {
            let mut parts = range.split(';').map(str::trim);
            let media = match parts.next().unwrap_or_default().to_ascii_lowercase().as_str() {
                "application/graphql-response+json" => Self::GraphqlResponse,
                "application/json" | "*/*" | "application/*" => Self::Json,
                "text/event-stream" => Self::EventStream,
                _ => continue,
            };
            let mut quality = 1.0;
            let mut readable = true;
            for parameter in parts {
                let (name, value) = parameter.split_once('=').unwrap_or((parameter, ""));
                match name.trim().to_ascii_lowercase().as_str() {
                    "q" => quality = value.trim().parse().unwrap_or(0.0),
                    "charset" => {
                        readable = value.trim_matches('"').eq_ignore_ascii_case("utf-8");
                    }
                    _ => {}
                }
            }
            if readable && quality > 0.0 && best.is_none_or(|(found, _)| quality > found) {
                best = Some((quality, media));
            }
        }
        best.map(|(_, media)| media)
    }
}

/// Whether a body is JSON that we can read.
pub(super) fn is_json(headers: &HeaderMap) -> bool {
    let Some(text) = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()) else {
        return false;
    };
    let mut parts = text.split(';').map(str::trim);
    let json = parts.next().is_some_and(|media| media.eq_ignore_ascii_case("application/json"));
    json && parts.all(|parameter| match parameter.split_once('=') {
        Some((name, value)) if name.trim().eq_ignore_ascii_case("charset") => {
            value.trim().trim_matches('"').eq_ignore_ascii_case("utf-8")
        }
        _ => true,
    })
}
