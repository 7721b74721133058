//! The tokens of a record and their positions.

use std::str::FromStr;

use super::BadRecord;

/// A position: line and column, starting at 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Position {
    line: usize,
    column: usize,
}

impl Position {
    /// An error at this position.
    pub(crate) fn bad(self, problem: impl Into<String>) -> BadRecord {
        BadRecord { line: self.line, column: self.column, problem: problem.into() }
    }
}

/// A token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Token<'a> {
    /// A verb, a code, a number, an id.
    Word(&'a str),
    /// Text in quotes.
    Text(String),
    /// `@120`, `@+120`, `@-120`: a time, or the difference to the previous one.
    Stamp(Stamp),
    /// `->`.
    Arrow,
    /// One of `[ ] , ; | : .`
    Mark(char),
    /// The end of a line.
    Newline,
    /// The end of the record.
    End,
}

/// A time, as written in a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stamp {
    /// Milliseconds since 1970.
    At(u64),
    /// Milliseconds after the previous one.
    Later(u64),
    /// Milliseconds before the previous one.
    Earlier(u64),
}

impl<'a> Token<'a> {
    /// The word, if it is one.
    pub(crate) const fn word(&self) -> Option<&'a str> {
        if let Self::Word(word) = self { Some(*word) } else { None }
    }

    /// The text for error messages.
    pub(crate) fn shown(&self) -> String {
        match self {
            // A word can be very long, for example if separators are missing.
            Self::Word(word) => format!("'{}'", word.chars().take(40).collect::<String>()),
            Self::Text(_) => "a text in quotes".to_owned(),
            Self::Stamp(_) => "a stamp".to_owned(),
            Self::Arrow => "'->'".to_owned(),
            Self::Mark(mark) => format!("'{mark}'"),
            Self::Newline => "the end of the line".to_owned(),
            Self::End => "the end of the record".to_owned(),
        }
    }
}

/// A reader over the text of a record.
#[derive(Clone, Debug)]
pub(crate) struct Reader<'a> {
    rest: &'a str,
    place: Position,
}

impl<'a> Reader<'a> {
    pub(crate) const fn new(text: &'a str) -> Self {
        Self { rest: text, place: Position { line: 1, column: 1 } }
    }

    /// The next token and its position, skipping blanks and comments.
    pub(crate) fn next(&mut self) -> Result<(Token<'a>, Position), BadRecord> {
        self.skip()?;
        let place = self.place;
        let Some(first) = self.rest.chars().next() else { return Ok((Token::End, place)) };
        let sign = match first {
            '\n' => self.take(1, Token::Newline),
            '[' | ']' | ',' | ';' | '|' | ':' | '.' => self.take(1, Token::Mark(first)),
            '-' if self.rest.starts_with("->") => self.take(2, Token::Arrow),
            '"' => Token::Text(self.text(place)?),
            '@' => Token::Stamp(self.stamp(place)?),
            _ => match self.word() {
                "" => {
                    return Err(place.bad(format!("'{}' means nothing here", first.escape_debug())));
                }
                word => Token::Word(word),
            },
        };
        Ok((sign, place))
    }

    /// The next token, without consuming it.
    pub(crate) fn peek(&self) -> Result<(Token<'a>, Position), BadRecord> {
        self.clone().next()
    }

    /// Consumes the next token if it is the given one; returns whether it was.
    pub(crate) fn accept(&mut self, sign: &Token<'_>) -> Result<bool, BadRecord> {
        let is_it = self.peek()?.0 == *sign;
        if is_it {
            self.next()?;
        }
        Ok(is_it)
    }

    /// The rest of the line, trimmed, and its position.
    pub(crate) fn line(&mut self) -> (&'a str, Position) {
        let blanks = self.rest.len() - self.rest.trim_start_matches([' ', '\t']).len();
        self.advance(blanks);
        let place = self.place;
        let end = self.rest.find('\n').unwrap_or(self.rest.len());
        (self.advance(end).trim_end(), place)
    }

    /// Skips blanks and `{ comments }`.
    fn skip(&mut self) -> Result<(), BadRecord> {
        loop {
            let blank = |c: char| matches!(c, ' ' | '\t' | '\r');
            let blanks = self.rest.len() - self.rest.trim_start_matches(blank).len();
            self.advance(blanks);
            if !self.rest.starts_with('{') {
                return Ok(());
            }
            let Some(end) = self.rest.find('}') else {
                return Err(self.place.bad("this comment does not end; '}' is missing"));
            };
            self.advance(end + 1);
        }
    }

    fn take(&mut self, bytes: usize, sign: Token<'a>) -> Token<'a> {
        self.advance(bytes);
        sign
    }

    fn word(&mut self) -> &'a str {
        let of_a_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '-');
        let end = self.rest.find(|c| !of_a_word(c)).unwrap_or(self.rest.len());
        // A code never ends with a hyphen: here it is part of an arrow.
        let end = if self.rest[end..].starts_with('>') {
            self.rest[..end].trim_end_matches('-').len()
        } else {
            end
        };
        self.advance(end)
    }

    /// A JSON string.
    fn text(&mut self, place: Position) -> Result<String, BadRecord> {
        let mut escaped = false;
        let end = self.rest.char_indices().skip(1).find(|&(_, c)| {
            let ends = (c == '"' && !escaped) || c == '\n';
            escaped = c == '\\' && !escaped;
            ends
        });
        let quoted = match end {
            Some((end, '"')) => self.advance(end + 1),
            _ => return Err(place.bad("this text does not end; '\"' is missing")),
        };
        serde_json::from_str(quoted)
            .map_err(|_| place.bad("this text is no JSON string, as in \"Ann \\u00d6lund\""))
    }

    fn stamp(&mut self, place: Position) -> Result<Stamp, BadRecord> {
        let bad =
            || place.bad("a stamp is a number of milliseconds, as in @1800000000000 or @+250");
        self.advance(1);
        let sign = self.rest.chars().next().filter(|c| matches!(c, '+' | '-'));
        self.advance(usize::from(sign.is_some()));
        let end = self.rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(self.rest.len());
        let number = self.advance(end).parse().map_err(|_| bad())?;
        Ok(match sign {
            None => Stamp::At(number),
            Some('+') => Stamp::Later(number),
            Some(_) => Stamp::Earlier(number),
        })
    }

    /// Skips this number of bytes, counting lines and columns.
    fn advance(&mut self, bytes: usize) -> &'a str {
        let (passed, rest) = self.rest.split_at(bytes);
        for c in passed.chars() {
            if c == '\n' {
                self.place = Position { line: self.place.line + 1, column: 1 };
            } else {
                self.place.column += 1;
            }
        }
        self.rest = rest;
        passed
    }
}

pub(crate) fn expected(place: Position, what: &str, found: &Token<'_>) -> BadRecord {
    place.bad(format!("{what} is expected, not {}", found.shown()))
}

/// Parses a number, a code or an id from a word.
pub(crate) fn value<T: FromStr>(reader: &mut Reader<'_>, what: &str) -> Result<T, BadRecord> {
    let (sign, place) = reader.next()?;
    let read = sign.word().and_then(|word| word.parse().ok());
    read.ok_or_else(|| expected(place, what, &sign))
}

/// Parses `[1,2,3]` after a word.
pub(crate) fn list<T: FromStr>(
    reader: &mut Reader<'_>,
    behind: &str,
    of: &str,
) -> Result<Vec<T>, BadRecord> {
    let (open, place) = reader.next()?;
    if open != Token::Mark('[') {
        return Err(expected(
            place,
            &format!("a list of {of} behind '{behind}', as in [1,2],"),
            &open,
        ));
    }
    let mut items = Vec::new();
    if reader.accept(&Token::Mark(']'))? {
        return Ok(items);
    }
    loop {
        items.push(value(reader, &format!("one of the {of} of '{behind}'"))?);
        match reader.next()? {
            (Token::Mark(','), _) => {}
            (Token::Mark(']'), _) => return Ok(items),
            (found, place) => return Err(expected(place, "',' or ']'", &found)),
        }
    }
}
