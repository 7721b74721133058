//! What a text may have before it is parsed: the parser goes down with each bracket, so it must not see too many.

use std::str::Bytes;

use super::{BadDocument, Limits, too_much};

/// Counts words, signs and nesting. Strings and comments count as one, whatever they hold.
pub(super) fn check(limits: &Limits, text: &str) -> Result<(), BadDocument> {
    let deepest = 4 * u64::from(limits.max_depth);
    let (mut tokens, mut depth) = (0u64, 0u64);
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        match byte {
            b' ' | b'\t' | b'\r' | b'\n' | b',' => continue,
            b'#' => {
                skip_while(&mut rest, |byte| byte != b'\n' && byte != b'\r');
                continue;
            }
            b'{' | b'(' | b'[' => depth += 1,
            b'}' | b')' | b']' => depth = depth.saturating_sub(1),
            b'"' => skip_string(&mut rest),
            _ if is_word(byte) => skip_while(&mut rest, is_word),
            _ => {}
        }
        tokens += 1;
        too_much("levels of brackets", depth, deepest)?;
        too_much("words and signs", tokens, limits.max_tokens.into())?;
    }
    Ok(())
}

/// Passes over a string whose first quote was read: `"…"`, `""`, or a block between three quotes.
fn skip_string(rest: &mut Bytes<'_>) {
    let follows = |rest: &Bytes<'_>, quotes: &[u8]| {
        quotes.iter().zip(rest.clone()).filter(|(quote, byte)| *quote == byte).count()
            == quotes.len()
    };
    let block = follows(rest, b"\"\"");
    if block {
        rest.nth(1);
    }
    while let Some(byte) = rest.next() {
        match byte {
            // In a block only three quotes in a row are escaped, and then nothing that follows ends it.
            b'\\' if !block => {
                rest.next();
            }
            b'\\' if follows(rest, b"\"\"\"") => {
                rest.nth(2);
            }
            b'"' if !block => return,
            b'"' if follows(rest, b"\"\"") => {
                rest.nth(1);
                return;
            }
            _ => {}
        }
    }
}

/// Passes over bytes as long as they are such.
fn skip_while(rest: &mut Bytes<'_>, such: impl Fn(u8) -> bool) {
    while rest.clone().next().is_some_and(&such) {
        rest.next();
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-'
}
