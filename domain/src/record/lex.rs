//! The signs of a record, with the place of each.

use std::str::FromStr;

use super::BadRecord;

/// Where something stands: line and column, from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    line: usize,
    column: usize,
}

impl Place {
    /// What is wrong here.
    pub(crate) fn bad(self, problem: impl Into<String>) -> BadRecord {
        BadRecord { line: self.line, column: self.column, problem: problem.into() }
    }
}

/// One sign of a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Sign<'a> {
    /// A verb, a code, a number, an id.
    Word(&'a str),
    /// Text in quotes.
    Text(String),
    /// `@120`, `@+120`, `@-120`: a moment, or how long behind or before the last one.
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

/// A moment, as a record writes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stamp {
    /// In milliseconds since 1970.
    At(u64),
    /// So many milliseconds after the last one.
    Later(u64),
    /// So many milliseconds before the last one.
    Earlier(u64),
}

impl<'a> Sign<'a> {
    /// The word, if it is one.
    pub(crate) const fn word(&self) -> Option<&'a str> {
        if let Self::Word(word) = self { Some(*word) } else { None }
    }

    /// As an error message shows it.
    pub(crate) fn shown(&self) -> String {
        match self {
            // Somebody may have left out a blank, or everything but words.
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

/// A record that is read from its beginning to its end.
#[derive(Clone, Debug)]
pub(crate) struct Reader<'a> {
    rest: &'a str,
    place: Place,
}

impl<'a> Reader<'a> {
    pub(crate) const fn new(text: &'a str) -> Self {
        Self { rest: text, place: Place { line: 1, column: 1 } }
    }

    /// The next sign, behind blanks and comments, and where it stands.
    pub(crate) fn next(&mut self) -> Result<(Sign<'a>, Place), BadRecord> {
        self.skip()?;
        let place = self.place;
        let Some(first) = self.rest.chars().next() else { return Ok((Sign::End, place)) };
        let sign = match first {
            '\n' => self.take(1, Sign::Newline),
            '[' | ']' | ',' | ';' | '|' | ':' | '.' => self.take(1, Sign::Mark(first)),
            '-' if self.rest.starts_with("->") => self.take(2, Sign::Arrow),
            '"' => Sign::Text(self.text(place)?),
            '@' => Sign::Stamp(self.stamp(place)?),
            _ => match self.word() {
                "" => {
                    return Err(place.bad(format!("'{}' means nothing here", first.escape_debug())));
                }
                word => Sign::Word(word),
            },
        };
        Ok((sign, place))
    }

    /// The next sign, which is read again.
    pub(crate) fn peek(&self) -> Result<(Sign<'a>, Place), BadRecord> {
        self.clone().next()
    }

    /// Passes over the next sign if it is this one, and says whether it was.
    pub(crate) fn accept(&mut self, sign: &Sign<'_>) -> Result<bool, BadRecord> {
        let is_it = self.peek()?.0 == *sign;
        if is_it {
            self.next()?;
        }
        Ok(is_it)
    }

    /// Everything up to the end of the line, without the blanks around it, and where it begins.
    pub(crate) fn line(&mut self) -> (&'a str, Place) {
        let blanks = self.rest.len() - self.rest.trim_start_matches([' ', '\t']).len();
        self.advance(blanks);
        let place = self.place;
        let end = self.rest.find('\n').unwrap_or(self.rest.len());
        (self.advance(end).trim_end(), place)
    }

    /// Passes over blanks and `{ comments }`.
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

    fn take(&mut self, bytes: usize, sign: Sign<'a>) -> Sign<'a> {
        self.advance(bytes);
        sign
    }

    fn word(&mut self) -> &'a str {
        let of_a_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '-');
        let end = self.rest.find(|c| !of_a_word(c)).unwrap_or(self.rest.len());
        // A code never ends in a hyphen: that one belongs to an arrow.
        let end = if self.rest[end..].starts_with('>') {
            self.rest[..end].trim_end_matches('-').len()
        } else {
            end
        };
        self.advance(end)
    }

    /// A JSON string.
    fn text(&mut self, place: Place) -> Result<String, BadRecord> {
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

    fn stamp(&mut self, place: Place) -> Result<Stamp, BadRecord> {
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

    /// Passes over so many bytes, counting lines and columns.
    fn advance(&mut self, bytes: usize) -> &'a str {
        let (passed, rest) = self.rest.split_at(bytes);
        for c in passed.chars() {
            if c == '\n' {
                self.place = Place { line: self.place.line + 1, column: 1 };
            } else {
                self.place.column += 1;
            }
        }
        self.rest = rest;
        passed
    }
}

pub(crate) fn expected(place: Place, what: &str, found: &Sign<'_>) -> BadRecord {
    place.bad(format!("{what} is expected, not {}", found.shown()))
}

/// A number, a code, an id: whatever is read from a word.
pub(crate) fn value<T: FromStr>(reader: &mut Reader<'_>, what: &str) -> Result<T, BadRecord> {
    let (sign, place) = reader.next()?;
    let read = sign.word().and_then(|word| word.parse().ok());
    read.ok_or_else(|| expected(place, what, &sign))
}

/// `[1,2,3]`, behind a word.
pub(crate) fn list<T: FromStr>(
    reader: &mut Reader<'_>,
    behind: &str,
    of: &str,
) -> Result<Vec<T>, BadRecord> {
    let (open, place) = reader.next()?;
    if open != Sign::Mark('[') {
        return Err(expected(
            place,
            &format!("a list of {of} behind '{behind}', as in [1,2],"),
            &open,
        ));
    }
    let mut items = Vec::new();
    if reader.accept(&Sign::Mark(']'))? {
        return Ok(items);
    }
    loop {
        items.push(value(reader, &format!("one of the {of} of '{behind}'"))?);
        match reader.next()? {
            (Sign::Mark(','), _) => {}
            (Sign::Mark(']'), _) => return Ok(items),
            (found, place) => return Err(expected(place, "',' or ']'", &found)),
        }
    }
}
