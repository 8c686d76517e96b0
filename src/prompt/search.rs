//! Finding tools by words: BM25 over names and descriptions.
//!
//! Invariant: the same tools and words give the same answer; ties are in the order of the tools. What is indexed of a description is
//! bounded.

use std::collections::{BTreeMap, HashMap};

use crate::language::TOOL_WORDS_MAX;

/// How much a repeated word counts, and how much the length of a text. The usual values.
const K1: f64 = 1.2;
const B: f64 = 0.75;

/// How often a word of the name counts as one of the description.
const NAME_WEIGHT: u32 = 3;

/// How many words of a query are looked at.
const QUERY_WORDS_MAX: usize = 32;

/// An index of texts, by their places.
#[derive(Debug)]
pub(crate) struct Index {
    /// By word: the texts that have it, and how often.
    postings: HashMap<String, Vec<(usize, u32)>>,
    /// How many words each text has.
    lengths: Vec<u32>,
    mean_length: f64,
}

impl Index {
    /// An index of names and descriptions.
    pub(super) fn new<'a>(texts: impl Iterator<Item = (&'a str, &'a str)>) -> Self {
        let mut postings: HashMap<String, Vec<(usize, u32)>> = HashMap::new();
        let mut lengths = Vec::new();
        for (place, (name, description)) in texts.enumerate() {
            let description =
                description.get(..description.floor_char_boundary(TOOL_WORDS_MAX)).unwrap_or_default();
            let mut counts: BTreeMap<String, u32> = BTreeMap::new();
            let name = words(name).map(|word| (word, NAME_WEIGHT));
            for (word, weight) in name.chain(words(description).map(|word| (word, 1))) {
                *counts.entry(word).or_default() += weight;
            }
            lengths.push(counts.values().sum());
            for (word, count) in counts {
                postings.entry(word).or_default().push((place, count));
            }
        }
        let total: f64 = lengths.iter().copied().map(f64::from).sum();
        let mean_length = if lengths.is_empty() { 1.0 } else { (total / lengths.len() as f64).max(1.0) };
        Self { postings, lengths, mean_length }
    }

    /// The places of all texts that have a word of the query, the best first.
    pub(super) fn search(&self, query: &str) -> Vec<usize> {
        let mut scores: BTreeMap<usize, f64> = BTreeMap::new();
        let count = self.lengths.len() as f64;
        let mut asked: Vec<String> = words(query).take(QUERY_WORDS_MAX).collect();
        asked.sort();
        asked.dedup();
        for word in asked {
            let Some(postings) = self.postings.get(&word) else { continue };
            let having = postings.len() as f64;
            let rarity = ((count - having + 0.5) / (having + 0.5)).ln_1p();
            for (place, times) in postings {
                let length = self.lengths.get(*place).copied().map_or(1.0, f64::from);
                let times = f64::from(*times);
                let score = times * (K1 + 1.0) / (times + K1 * (1.0 - B + B * length / self.mean_length));
                *scores.entry(*place).or_default() += rarity * score;
            }
        }
        let mut found: Vec<(usize, f64)> = scores.into_iter().collect();
        found.sort_by(|(one, its), (other, others)| others.total_cmp(its).then(one.cmp(other)));
        found.into_iter().map(|(place, _)| place).collect()
    }
}

/// The words of a text in small letters. A change from small to capital letters begins a word; so does whatever is neither a letter
/// nor a digit. The plural of a word is the word.
fn words(text: &str) -> impl Iterator<Item = String> {
    let parts = text.split(|c: char| !c.is_alphanumeric()).filter(|part| !part.is_empty());
    parts.flat_map(|part| {
        let mut words = vec![String::new()];
        let mut after_small = false;
        for character in part.chars() {
            if after_small && character.is_uppercase() {
                words.push(String::new());
            }
            after_small = character.is_lowercase() || character.is_numeric();
            if let Some(word) = words.last_mut() {
                word.extend(character.to_lowercase());
            }
        }
        words.into_iter().map(singular)
    })
}

fn singular(mut word: String) -> String {
    let is_plural = word.len() > 3 && word.ends_with('s') && !word.ends_with("ss") && !word.ends_with("us");
    if is_plural {
        word.pop();
    }
    word
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXTS: [(&str, &str); 5] = [
        ("create_issue", "Creates an issue in a repository."),
        ("list_issues", "Lists the issues of a repository, newest first."),
        ("getUserProfile", "The profile of a person."),
        ("send_mail", "Sends a message. Mentions no issue tracker."),
        ("noop", ""),
    ];

    fn search(query: &str) -> Vec<&'static str> {
        let found = Index::new(TEXTS.into_iter()).search(query);
        found.into_iter().filter_map(|place| TEXTS.get(place)).map(|(name, _)| *name).collect()
    }

    #[test]
    fn words_are_split_and_folded() {
        let split = |text: &str| words(text).collect::<Vec<_>>();
        assert_eq!(split("getUserURL2 list_Issues"), ["get", "user", "url2", "list", "issue"]);
        assert_eq!(split("status, class; buses über-Öl"), ["status", "class", "buse", "über", "öl"]);
    }

    #[test]
    fn the_best_comes_first_and_ties_keep_the_order() {
        assert_eq!(search("issues"), ["create_issue", "list_issues", "send_mail"]);
        assert_eq!(search("list issue"), ["list_issues", "create_issue", "send_mail"]);
        assert_eq!(search("USER profile"), ["getUserProfile"]);
        assert_eq!(search("nothing of it"), ["list_issues", "getUserProfile"]);
        assert_eq!(search(""), <[&str; 0]>::default());
        assert_eq!(Index::new(std::iter::empty()).search("a"), <[usize; 0]>::default());
    }
}
