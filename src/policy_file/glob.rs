//! Globs: `*` stands for any text, `?` for one character, `\` takes the next character as it is.
//!
//! Invariant: a glob is kept in one form for all its spellings. Wildcards that stand together and hold a `*` are one gap of
//! a least length, so `*?`, `?*` and `?**` are the same. [`Glob::covers`] says yes only where every text that the other glob
//! matches is matched by this one.

/// The longest glob, in bytes.
pub(super) const GLOB_BYTES_MAX: usize = 500;

/// One glob.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Glob {
    first: Part,
    gaps: Vec<Gap>,
}

/// A piece that matches texts of one length.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Part {
    units: Vec<Unit>,
    /// The text, where there is only one.
    literal: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unit {
    Character(char),
    /// Any one character.
    One,
}

/// Any text of at least so many characters, and what comes after it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Gap {
    least: usize,
    then: Part,
}

/// One step of a glob that is looked at as a text itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Symbol {
    Character(char),
    One,
    /// Any text, the empty one too.
    Many,
}

impl Glob {
    /// Reads a glob.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        if text.is_empty() {
            return Err("a glob is empty; `*` matches every text".to_owned());
        }
        if text.len() > GLOB_BYTES_MAX {
            let long = text.len();
            return Err(format!("a glob is {long} bytes long; at most {GLOB_BYTES_MAX} are allowed"));
        }
        let mut symbols = Vec::new();
        let mut characters = text.chars();
        while let Some(character) = characters.next() {
            symbols.push(match character {
                '*' => Symbol::Many,
                '?' => Symbol::One,
                '\\' => match characters.next() {
                    Some(escaped) => Symbol::Character(escaped),
                    None => return Err("a glob ends with a backslash; write `\\\\` for one".to_owned()),
                },
                plain => Symbol::Character(plain),
            });
        }
        Ok(Self::normal(&symbols))
    }

    fn normal(symbols: &[Symbol]) -> Self {
        let mut glob = Self { first: Part::default(), gaps: Vec::new() };
        let mut rest = symbols;
        while let Some((symbol, after)) = rest.split_first() {
            if let Symbol::Character(character) = symbol {
                glob.last().units.push(Unit::Character(*character));
                rest = after;
                continue;
            }
            let end = rest.iter().position(|next| matches!(next, Symbol::Character(_))).unwrap_or(rest.len());
            let (run, after) = rest.split_at(end);
            let least = run.iter().filter(|symbol| **symbol == Symbol::One).count();
            if least == run.len() {
                glob.last().units.extend(std::iter::repeat_n(Unit::One, least));
            } else {
                glob.gaps.push(Gap { least, then: Part::default() });
            }
            rest = after;
        }
        for part in std::iter::once(&mut glob.first).chain(glob.gaps.iter_mut().map(|gap| &mut gap.then)) {
            part.literal = part.units.iter().map(Unit::character).collect();
        }
        glob
    }

    fn last(&mut self) -> &mut Part {
        self.gaps.last_mut().map_or(&mut self.first, |gap| &mut gap.then)
    }

    /// Whether the glob matches all of `text`.
    pub(super) fn matches(&self, text: &str) -> bool {
        let Some(mut rest) = self.first.strip(text) else {
            return false;
        };
        let Some((last, inner)) = self.gaps.split_last() else {
            return rest.is_empty();
        };
        for gap in inner {
            match skip(rest, gap.least).and_then(|rest| gap.then.find(rest)) {
                Some(after) => rest = after,
                None => return false,
            }
        }
        skip(rest, last.least).is_some_and(|rest| last.then.ends(rest))
    }

    /// The glob as a text of symbols.
    pub(super) fn symbols(&self) -> Vec<Symbol> {
        let mut symbols: Vec<Symbol> = self.first.units.iter().map(Unit::symbol).collect();
        for gap in &self.gaps {
            symbols.extend(std::iter::repeat_n(Symbol::One, gap.least));
            symbols.push(Symbol::Many);
            symbols.extend(gap.then.units.iter().map(Unit::symbol));
        }
        symbols
    }

    /// Whether this glob matches every text that the glob of these symbols matches. `steps` grows by the work it took.
    ///
    /// The other glob is matched as if it were a text, in which `*` can be taken by a gap alone and `?` by a gap or a `?`.
    pub(super) fn covers(&self, other: &[Symbol], steps: &mut u64) -> bool {
        let Some(mut rest) = self.first.strip_symbols(other, steps) else {
            return false;
        };
        let Some((last, inner)) = self.gaps.split_last() else {
            return rest.is_empty();
        };
        // What can be told soonest comes first; it decides nothing that the end would not.
        if !last.then.ends_symbols(rest, steps) {
            return false;
        }
        for gap in inner {
            let found = skip_symbols(rest, gap.least, steps).and_then(|rest| gap.then.find_symbols(rest, steps));
            match found {
                Some(after) => rest = after,
                None => return false,
            }
        }
        skip_symbols(rest, last.least, steps).is_some_and(|rest| last.then.ends_symbols(rest, steps))
    }
}

impl Unit {
    fn character(&self) -> Option<char> {
        if let Self::Character(character) = self { Some(*character) } else { None }
    }

    fn symbol(&self) -> Symbol {
        match self {
            Self::Character(character) => Symbol::Character(*character),
            Self::One => Symbol::One,
        }
    }

    fn takes(self, symbol: Symbol) -> bool {
        match (self, symbol) {
            (_, Symbol::Many) | (Self::Character(_), Symbol::One) => false,
            (Self::One, Symbol::One | Symbol::Character(_)) => true,
            (Self::Character(own), Symbol::Character(other)) => own == other,
        }
    }
}

impl Part {
    /// What is left of `text` after this part.
    fn strip<'t>(&self, text: &'t str) -> Option<&'t str> {
        if let Some(literal) = &self.literal {
            return text.strip_prefix(literal.as_str());
        }
        let mut characters = text.chars();
        for unit in &self.units {
            let character = characters.next()?;
            if !unit.takes(Symbol::Character(character)) {
                return None;
            }
        }
        Some(characters.as_str())
    }

    /// What is left of `text` after the first place where this part is.
    fn find<'t>(&self, text: &'t str) -> Option<&'t str> {
        if let Some(literal) = &self.literal {
            return text.split_once(literal.as_str()).map(|(_, after)| after);
        }
        let mut rest = text;
        loop {
            if let Some(after) = self.strip(rest) {
                return Some(after);
            }
            rest = skip(rest, 1)?;
        }
    }

    /// Whether `text` ends with this part.
    fn ends(&self, text: &str) -> bool {
        if let Some(literal) = &self.literal {
            return text.ends_with(literal.as_str());
        }
        let mut characters = text.chars();
        self.units
            .iter()
            .rev()
            .all(|unit| characters.next_back().is_some_and(|character| unit.takes(Symbol::Character(character))))
    }

    fn strip_symbols<'s>(&self, symbols: &'s [Symbol], steps: &mut u64) -> Option<&'s [Symbol]> {
        let (head, after) = symbols.split_at_checked(self.units.len())?;
        self.takes(head, steps).then_some(after)
    }

    fn find_symbols<'s>(&self, symbols: &'s [Symbol], steps: &mut u64) -> Option<&'s [Symbol]> {
        let mut rest = symbols;
        loop {
            if let Some(after) = self.strip_symbols(rest, steps) {
                return Some(after);
            }
            (_, rest) = rest.split_first()?;
        }
    }

    fn ends_symbols(&self, symbols: &[Symbol], steps: &mut u64) -> bool {
        let tail = symbols.len().checked_sub(self.units.len()).and_then(|start| symbols.get(start..));
        tail.is_some_and(|tail| self.takes(tail, steps))
    }

    /// From the end, where names differ more often than at the start.
    fn takes(&self, symbols: &[Symbol], steps: &mut u64) -> bool {
        *steps += 1;
        self.units.iter().zip(symbols).rev().all(|(unit, symbol)| {
            *steps += 1;
            unit.takes(*symbol)
        })
    }
}

/// `text` without its first characters, if it has so many.
fn skip(text: &str, count: usize) -> Option<&str> {
    let mut characters = text.chars();
    for _ in 0..count {
        characters.next()?;
    }
    Some(characters.as_str())
}

/// The symbols after those that stand for `count` characters at least.
fn skip_symbols<'s>(symbols: &'s [Symbol], count: usize, steps: &mut u64) -> Option<&'s [Symbol]> {
    let (mut rest, mut missing) = (symbols, count);
    while missing > 0 {
        let (symbol, after) = rest.split_first()?;
        *steps += 1;
        missing -= usize::from(*symbol != Symbol::Many);
        rest = after;
    }
    Some(rest)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn glob(text: &str) -> Glob {
        Glob::parse(text).expect("a valid glob")
    }

    fn covers(earlier: &str, later: &str) -> bool {
        glob(earlier).covers(&glob(later).symbols(), &mut 0)
    }

    /// The definition of a match, without any thought for time.
    fn defined(glob: &[char], text: &[char]) -> bool {
        match glob.split_first() {
            None => text.is_empty(),
            Some(('*', rest)) => (0..=text.len()).any(|taken| defined(rest, &text[taken..])),
            Some(('?', rest)) => !text.is_empty() && defined(rest, &text[1..]),
            Some(('\\', rest)) => text.first() == rest.first() && defined(&rest[1..], &text[1..]),
            Some((plain, rest)) => text.first() == Some(plain) && defined(rest, &text[1..]),
        }
    }

    /// All texts over `alphabet` of at most `longest` characters.
    fn texts(alphabet: &str, longest: usize) -> Vec<String> {
        let mut all = vec![String::new()];
        let mut from = 0;
        for _ in 0..longest {
            let until = all.len();
            for index in from..until {
                let longer = alphabet.chars().map(|character| format!("{}{character}", all[index]));
                all.extend(longer.collect::<Vec<_>>());
            }
            from = until;
        }
        all
    }

    #[test]
    fn globs_match_what_they_say() {
        let cases = [
            ("fs_*", "fs_", true),
            ("fs_*", "fs_read/x", true),
            ("fs_*", "Fs_read", false),
            ("?", "路", true),
            ("?", "", false),
            ("??", "路", false),
            ("路*径", "路径", true),
            ("a b", "a b", true),
            (r"\*", "*", true),
            (r"\*", "x", false),
            (r"a\?b", "a?b", true),
            (r"\\*", r"\x", true),
            ("[ab]{c,d}!", "[ab]{c,d}!", true),
            ("[ab]", "a", false),
            ("*ab*ab", "abab", true),
            ("*ab*ab", "ab", false),
            ("a*?", "a", false),
        ];
        for (pattern, text, expected) in cases {
            assert_eq!(glob(pattern).matches(text), expected, "{pattern} {text}");
        }
    }

    #[test]
    fn spellings_of_one_gap_are_one_glob() {
        for spelling in ["a?*?b", "a*??b", "a??*b", "a*?*?*b"] {
            assert_eq!(glob(spelling), glob("a??*b"), "{spelling}");
        }
        assert_ne!(glob("a??b"), glob("a??*b"));
    }

    #[test]
    fn covering_is_inclusion_for_all_short_globs() {
        let globs: Vec<String> = texts("ab*?", 4).into_iter().skip(1).collect();
        let texts = texts("abc", 6);
        let parsed: Vec<Glob> = globs.iter().map(|text| glob(text)).collect();
        let bits = |glob: &Glob| -> Vec<u128> {
            let bit = |text: &String| u128::from(glob.matches(text));
            texts.chunks(128).map(|texts| texts.iter().fold(0, |bits, text| bits << 1 | bit(text))).collect()
        };
        let matched: Vec<Vec<u128>> = parsed.iter().map(bits).collect();
        for (later, symbols) in parsed.iter().map(Glob::symbols).enumerate() {
            let expected = |earlier: usize| matched[later].iter().zip(&matched[earlier]).all(|(l, e)| l & !e == 0);
            for (earlier, glob) in parsed.iter().enumerate() {
                let covers = glob.covers(&symbols, &mut 0);
                assert_eq!(covers, expected(earlier), "{} {}", globs[earlier], globs[later]);
            }
        }
    }

    proptest! {
        #[test]
        fn matching_is_as_defined(pattern in r"([ab路*?]|\\[ab*?]){1,8}", text in "[ab路*?]{0,10}") {
            let (pattern_characters, text_characters) = (pattern.chars().collect::<Vec<_>>(), text.chars().collect::<Vec<_>>());
            prop_assert_eq!(glob(&pattern).matches(&text), defined(&pattern_characters, &text_characters));
        }

        #[test]
        fn what_is_covered_matches_nothing_else(
            earlier in "[ab*?]{1,8}", later in "[ab*?]{1,8}", fill in prop::collection::vec("[abc]{0,9}", 8),
        ) {
            // A text that the later glob matches: its wildcards filled in.
            let mut fill = fill.iter();
            let text: String = later
                .chars()
                .map(|character| match character {
                    '*' => fill.next().cloned().unwrap_or_default(),
                    '?' => fill.next().and_then(|text| text.get(..1)).unwrap_or("c").to_owned(),
                    plain => plain.to_string(),
                })
                .collect();
            prop_assert!(glob(&later).matches(&text));
            if covers(&earlier, &later) {
                prop_assert!(glob(&earlier).matches(&text), "{} {} {}", earlier, later, text);
            }
        }

        #[test]
        fn what_is_not_covered_has_a_text_that_tells(earlier in "[ab*?]{1,7}", later in "[ab*?]{1,7}") {
            if !covers(&earlier, &later) {
                // Every way to leave gaps empty or to fill them with more than the earlier glob can name.
                let filled = (0_u32..1 << later.len()).any(|choice| {
                    let text: String = later
                        .chars()
                        .enumerate()
                        .map(|(place, character)| match character {
                            '*' if choice >> place & 1 == 1 => "c".repeat(9),
                            '*' => String::new(),
                            '?' => "c".to_owned(),
                            plain => plain.to_string(),
                        })
                        .collect();
                    !glob(&earlier).matches(&text)
                });
                prop_assert!(filled, "{} {}", earlier, later);
            }
        }
    }
}
