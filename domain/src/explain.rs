//! Explanations of scores: "300 × 2 = 600", "Hot streak + 150", "Dare + 400".

use crate::{Boost, Combination, Event, Faces, Points, Rules, Selection};

/// Explains the numbers of an event, line by line; empty if there is nothing to explain.
pub fn explain(event: &Event, rules: &Rules) -> Vec<String> {
    rules.parameters().explain(event)
}

/// The lines common to all games: those of a save.
pub(crate) fn usual_lines(event: &Event, boost_line: &dyn Fn(&Boost) -> String) -> Vec<String> {
    let Event::Saved(save) = event else { return Vec::new() };
    let mut lines = save_lines(&save.combinations, &save.bonuses, boost_line);
    if save.multiplier != 1 {
        let combined: Points = save.combinations.iter().map(Combination::total).sum();
        let base = save.bonuses.last().map_or(combined, |bonus| bonus.after);
        let (base, times) = (number(base), number(save.multiplier));
        lines.push(format!("{base} × {times} = {}", number(save.points)));
    }
    lines
}

/// "Dare + 400"; `None` for 0 points.
pub(crate) fn plus(what: &str, points: Points) -> Option<String> {
    (points != 0).then(|| format!("{what} + {}", number(points)))
}

impl Selection {
    /// Explains the points, line by line.
    pub fn lines(&self, rules: &Rules) -> Vec<String> {
        rules.parameters().selection_lines(self)
    }
}

pub(crate) fn save_lines(
    combinations: &[Combination],
    bonuses: &[Boost],
    boost_line: &dyn Fn(&Boost) -> String,
) -> Vec<String> {
    combinations.iter().map(combination).chain(bonuses.iter().map(boost_line)).collect()
}

/// A combination with the effect of each special die: "single 1 = 100 × 3 = 300".
fn combination(combination: &Combination) -> String {
    let what = combination.name.words();
    let mut parts = vec![format!("{what} {}", dice(combination.faces)).trim_end().to_owned()];
    if combination.points != 0 || combination.effects.is_empty() {
        parts.push(number(combination.points));
    }
    for Boost { before, after, .. } in &combination.effects {
        if let (Some(last), true) = (parts.last_mut(), *before != 0 && after % before == 0) {
            *last = format!("{last} × {}", number(after / before));
        }
        parts.push(number(*after));
    }
    parts.join(" = ")
}

pub(crate) fn dice(faces: Faces) -> String {
    faces.iter().map(|face| face.to_string()).collect::<Vec<_>>().join(" ")
}

/// A number with thousands separators.
pub(crate) fn number(number: i64) -> String {
    let digits = number.unsigned_abs().to_string();
    let mut text = String::new();
    for (n, digit) in digits.chars().enumerate() {
        if n > 0 && (digits.len() - n).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    if number < 0 { format!("-{text}") } else { text }
}

#[cfg(test)]
mod tests {
    use super::number;

    #[test]
    fn thousands() {
        let written = [0, 7, 999, 1000, -1000, 1_234_567, -50].map(number);
        assert_eq!(written, ["0", "7", "999", "1,000", "-1,000", "1,234,567", "-50"]);
    }
}
