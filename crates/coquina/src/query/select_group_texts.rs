//! What the texts of groups come to: the least and the greatest, the first and the last, and how many are different.
//!
//! In: groups, and the groups of the same keys and the texts. Each different text of a group is one of these, and comes once.
//! Out: a text, or a number, for each group.

use std::collections::HashMap;

use coquina_kernels::items::bytes_of;

use super::columns::{Categories, ColumnValues, QueryColumn};
use super::condition::{ItemType, NumberType};
use super::group::{Aggregate, Grouped};
use super::group_rows::GroupColumn;
use super::numbers::numbers;
use super::scan::Part;

/// Groups, and those of the same keys and the texts.
pub(super) struct TextGroups<'g> {
    pub(super) keys: &'g [Part],
    pub(super) groups: usize,
    pub(super) pairs: &'g Grouped,
}

impl TextGroups<'_> {
    /// The aggregate of the texts of a column.
    pub(super) fn aggregated(&self, aggregate: Aggregate, column: &QueryColumn) -> GroupColumn {
        let places: HashMap<Vec<u8>, usize> =
            (0..self.groups).map(|group| (key_at(self.keys, self.groups, group), group)).collect();
        let (keys, texts) = self.pairs.keys.split_at(self.keys.len());
        let last_rows = self.pairs.results.first().map_or(Vec::new(), |rows| numbers::<i64>(rows));
        let (mut counts, mut chosen) = (vec![0_i64; self.groups], vec![None; self.groups]);
        for pair in 0..self.pairs.groups {
            let is_missing = matches!(texts.get(1), Some(Part::Items(mask)) if mask[pair] != 0);
            let Some(&group) = places.get(&key_at(keys, self.pairs.groups, pair)).filter(|_| !is_missing)
            else {
                continue;
            };
            counts[group] += 1;
            let Some((text, best)) = texts.first().map(|texts| {
                let text = |pair| text_at(column, texts, self.pairs.groups, pair);
                (text(pair), chosen[group].map(|best| (text(best), best)))
            }) else {
                continue;
            };
            let is_better = best.is_none_or(|(known, best)| match aggregate {
                Aggregate::Min => text < known,
                Aggregate::Max => text > known,
                Aggregate::Last => last_rows[pair] > last_rows[best],
                // Groups come in the order of their first rows.
                _ => false,
            });
            if is_better {
                chosen[group] = Some(pair);
            }
        }
        if aggregate == Aggregate::Distinct {
            let items = bytes_of(&counts).to_vec();
            let ty = Some(ItemType::Number(NumberType::I64));
            return GroupColumn { ty, values: Part::Items(items), mask: None };
        }
        let (mut offsets, mut bytes) = (vec![0], Vec::new());
        for pair in &chosen {
            if let (Some(pair), Some(texts)) = (pair, texts.first()) {
                bytes.extend(text_at(column, texts, self.pairs.groups, *pair));
            }
            offsets.push(bytes.len().cast_signed() as i64);
        }
        let mask: Vec<u8> = chosen.iter().map(|pair| u8::from(pair.is_none())).collect();
        let mask = Some(mask).filter(|mask| mask.contains(&1));
        GroupColumn { ty: None, values: Part::Strings { offsets, bytes }, mask }
    }
}

/// The key of a group as bytes, different ones of different keys.
fn key_at(keys: &[Part], groups: usize, group: usize) -> Vec<u8> {
    let mut key = Vec::new();
    for part in keys {
        let value = value_at(part, groups, group);
        key.extend(bytes_of(&[value.len() as u64]));
        key.extend(value);
    }
    key
}

fn value_at(part: &Part, groups: usize, group: usize) -> &[u8] {
    match part {
        Part::Items(items) => {
            let width = items.len() / groups.max(1);
            &items[group * width..][..width]
        }
        Part::Strings { offsets, bytes } => {
            let place = |at: usize| usize::try_from(offsets[at]).unwrap_or(0);
            &bytes[place(group)..place(group + 1)]
        }
    }
}

/// A text as UTF-8, or as the bytes that it is.
fn text_at(column: &QueryColumn, texts: &Part, groups: usize, group: usize) -> Vec<u8> {
    let value = value_at(texts, groups, group);
    match &column.values {
        ColumnValues::FixedBytes(_) => {
            value[..value.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1)].to_vec()
        }
        ColumnValues::FixedPoints(_) => {
            let points = numbers::<u32>(value);
            let end = points.iter().rposition(|&point| point != 0).map_or(0, |last| last + 1);
            let c = |&point: &u32| char::from_u32(point).unwrap_or(char::REPLACEMENT_CHARACTER);
            points[..end].iter().map(c).collect::<String>().into_bytes()
        }
        ColumnValues::Categories { ty, categories, .. } => match &**categories {
            Categories::Texts(all) => {
                let code = super::condition::code(*ty, value);
                code.and_then(|code| all.get(code)).map_or(Vec::new(), |text| text.clone().into_bytes())
            }
            _ => Vec::new(),
        },
        _ => value.to_vec(),
    }
}
