//! Content negotiation: GraphQL's own media type, plain JSON or server-sent events.

use axum::http::{HeaderMap, header};

/// The media type of a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Media {
    /// `application/graphql-response+json`: request errors have a 4xx status.
    GraphqlResponse,
    /// `application/json`: for older clients; errors of a document have status 200.
    Json,
    /// `text/event-stream`: one event per response.
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

    /// The client's preferred media type; JSON without an accept header.
    pub(super) fn choose(headers: &HeaderMap) -> Option<Self> {
        let mut accept = headers.get_all(header::ACCEPT).iter().peekable();
        if accept.peek().is_none() {
            return Some(Self::Json);
        }
        let ranges =
            accept.filter_map(|value| value.to_str().ok()).flat_map(|text| text.split(','));
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
            let mut utf8 = true;
            for parameter in parts {
                let (name, value) = parameter.split_once('=').unwrap_or((parameter, ""));
                match name.trim().to_ascii_lowercase().as_str() {
                    "q" => quality = value.trim().parse().unwrap_or(0.0),
                    "charset" => {
                        utf8 = value.trim_matches('"').eq_ignore_ascii_case("utf-8");
                    }
                    _ => {}
                }
            }
            if utf8 && quality > 0.0 && best.is_none_or(|(found, _)| quality > found) {
                best = Some((quality, media));
            }
        }
        best.map(|(_, media)| media)
    }
}

/// Whether the content type is JSON in UTF-8.
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
