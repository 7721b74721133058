//! Limits that are checked before parsing: the parser recurses with each bracket and could overflow
//! the stack.

use std::str::Bytes;

use super::{BadDocument, Limits, check_limit};

/// Counts tokens and nesting. A string counts as one token, a comment as none.
pub(super) fn check(limits: &Limits, text: &str) -> Result<(), BadDocument> {
    let max_depth = 4 * u64::from(limits.max_depth);
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
        check_limit("nested brackets", depth, max_depth)?;
        check_limit("tokens", tokens, limits.max_tokens.into())?;
    }
    Ok(())
}

/// Skips a string whose first quote was read: `"…"`, `""`, or a block string in triple quotes.
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
            // In a block string only triple quotes can be escaped.
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

fn skip_while(rest: &mut Bytes<'_>, matches: impl Fn(u8) -> bool) {
    while rest.clone().next().is_some_and(&matches) {
        rest.next();
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-'
}
