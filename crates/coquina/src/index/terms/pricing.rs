//! Whether a condition is answered by indexes, and by which: what each way costs, from summaries alone.
//!
//! In: what a condition asks of indexes, what each of these knows, and the table. Out: the terms that are looked up, or
//! nothing for a scan.
//! Costs are bytes that are decoded, or what takes as long. A scan decodes the condition's columns in all boxes of which
//! nothing is known. An index gives rows; if it does not answer all of the condition, that is computed in the boxes that
//! these are in, and where the index knows nothing. What matched is decoded either way.
//! Invariant: the choice depends on the condition, the indexes and the stored bytes, and on nothing else.

use std::collections::HashMap;
use std::sync::Arc;

use super::super::{RowSet, Wanted};
use super::costs::row_bytes;
use super::programs::Terms;
use super::read::Operand;
use super::tree::Tree;

/// What a row of an index costs: to decode it, and to put it in its order.
const ROW_BYTES: f64 = 96.0;
/// What an index has to cost at most of what a scan costs.
const GAIN: f64 = 0.9;

/// What an index says of a term from its summaries.
pub struct Few {
    /// How many rows may meet it, without those of which nothing is known.
    pub rows: u64,
    /// How many rows nothing is known of.
    pub open_rows: u64,
    /// The rows, if they are few.
    pub found: Option<RowSet>,
    /// How many rows are told together, and lie in one place.
    pub unit_rows: u64,
    /// Whether rows are told one by one.
    pub is_sure: bool,
}

/// Those who know the indexes of a table.
pub trait Indexes {
    /// What goes wrong with them.
    type Error;

    /// What the index of an operand says of a term; nothing for one that is not usable.
    ///
    /// # Errors
    /// What goes wrong with asking it.
    fn few(&mut self, operand: usize, wanted: &Wanted) -> Result<Option<Few>, Self::Error>;

    /// The part of all boxes in which the condition has to be computed, as far as zone maps tell.
    ///
    /// # Errors
    /// What goes wrong with computing it.
    fn scanned(&mut self) -> Result<f64, Self::Error>;
}

/// What the costs depend on beside the condition.
#[derive(Clone, Copy, Debug)]
pub struct Costs {
    /// Rows of the table.
    pub rows: u64,
    /// Rows of a box.
    pub box_rows: u64,
    /// What asking zone maps costs for each box.
    pub surveyed_bytes: f64,
    /// What asking zone maps costs at least.
    pub survey_bytes: f64,
    /// Whether indexes are used whatever they cost.
    pub is_forced: bool,
}

/// The way in which a condition is answered.
pub struct Chosen {
    /// The terms that are looked up; nothing where no index knows anything of the rows.
    pub best: Option<Best>,
    /// The rows of terms that have been looked up, by where the term is.
    pub found: HashMap<usize, RowSet>,
    /// Operands whose indexes were wanted, and could not be asked.
    pub useless: Vec<usize>,
}

/// The cheapest terms.
pub struct Best {
    /// They.
    pub tree: Arc<Tree>,
    /// Whether they are all of the condition.
    pub is_whole: bool,
    /// About how many rows they have.
    pub rows: f64,
    /// Whether they cost less than a scan.
    pub is_gain: bool,
}

/// A tree and what its lookup costs: the rows that it gives, in how many places, and if these are sure.
#[derive(Clone)]
struct Priced {
    tree: Arc<Tree>,
    lookup: f64,
    rows: f64,
    places: f64,
    is_whole: bool,
    /// Whether it gives ranges of rows, of which all of the condition has to be computed.
    is_open: bool,
}

/// The cheapest way to answer a condition. `row_bytes`: what is decoded for each row to compute it.
///
/// # Errors
/// What goes wrong with asking indexes.
pub fn chosen<I: Indexes>(
    terms: &Terms,
    operands: &[Operand],
    all_row_bytes: u64,
    costs: Costs,
    indexes: &mut I,
) -> Result<Chosen, I::Error> {
    let boxes = costs.rows.div_ceil(costs.box_rows.max(1)).max(1);
    let mut pricing = Pricing {
        terms,
        operands,
        costs,
        indexes,
        count: float(costs.rows),
        boxes: float(boxes),
        row_bytes: float(all_row_bytes),
        scanned: None,
        found: HashMap::new(),
        useless: Vec::new(),
    };
    let best = match &terms.tree {
        Some(tree) => pricing.priced(tree)?,
        None => None,
    };
    let best = match best {
        None => None,
        Some(priced) => {
            let is_gain = pricing.is_gain(&priced)?;
            let Priced { tree, is_whole, rows, .. } = priced;
            Some(Best { tree, is_whole, rows, is_gain })
        }
    };
    Ok(Chosen { best, found: pricing.found, useless: pricing.useless })
}

#[expect(clippy::cast_precision_loss, reason = "it is an estimate")]
fn float(count: u64) -> f64 {
    count as f64
}

struct Pricing<'a, I> {
    terms: &'a Terms,
    operands: &'a [Operand],
    costs: Costs,
    indexes: &'a mut I,
    count: f64,
    boxes: f64,
    row_bytes: f64,
    scanned: Option<f64>,
    found: HashMap<usize, RowSet>,
    useless: Vec<usize>,
}

impl<I: Indexes> Pricing<'_, I> {
    /// Whether a tree costs less than a scan.
    fn is_gain(&mut self, best: &Priced) -> Result<bool, I::Error> {
        if self.costs.is_forced {
            return Ok(true);
        }
        let box_bytes = float(self.costs.box_rows.min(self.costs.rows)) * self.row_bytes;
        let scan = GAIN * self.boxes * box_bytes;
        let computed = self.computed(best);
        self.is_worth(best.lookup, scan - computed)
    }

    /// Whether a lookup costs less than it saves. `saved`: where a scan passes over nothing; zone maps are asked for how
    /// much it passes over only if that matters: no more than the lookup can be lost.
    fn is_worth(&mut self, lookup: f64, saved: f64) -> Result<bool, I::Error> {
        if lookup >= saved {
            return Ok(false);
        }
        if lookup <= self.costs.survey_bytes.max(self.boxes * self.costs.surveyed_bytes) {
            return Ok(true);
        }
        let scanned = match self.scanned {
            Some(scanned) => scanned,
            None => *self.scanned.insert(self.indexes.scanned()?),
        };
        Ok(lookup < scanned * saved)
    }

    /// What computing the condition costs in the rows of a tree, if a scan passes over nothing.
    fn computed(&self, priced: &Priced) -> f64 {
        if priced.is_whole {
            return 0.0;
        }
        let mut bytes = self.row_bytes;
        if !priced.is_open {
            let rest = self.terms.rest(&priced.tree, self.operands);
            bytes = bytes.min(float(rest.map(row_bytes).sum()));
        }
        self.touched(priced) * bytes * float(self.costs.box_rows)
    }

    /// How many boxes there is a row in, of rows anywhere, or of all rows of some places.
    fn touched(&self, priced: &Priced) -> f64 {
        let touched = self.boxes * (1.0 - (-priced.places / self.boxes).exp());
        if priced.is_open { touched.max(self.boxes * priced.rows / self.count.max(1.0)) } else { touched }
    }

    /// The cheapest way to look up a tree, or a part of it that has all of its rows.
    fn priced(&mut self, tree: &Arc<Tree>) -> Result<Option<Priced>, I::Error> {
        match &**tree {
            Tree::Known(_) => Ok(None),
            Tree::Term(operand, wanted) => self.priced_term(tree, *operand, wanted),
            Tree::Both { parts, is_whole } => self.priced_both(parts, *is_whole),
            Tree::Either(parts) => self.priced_either(tree, parts),
        }
    }

    fn priced_term(
        &mut self,
        tree: &Arc<Tree>,
        operand: usize,
        wanted: &Wanted,
    ) -> Result<Option<Priced>, I::Error> {
        let Some(few) = self.indexes.few(operand, wanted)? else {
            self.useless.push(operand);
            return Ok(None);
        };
        if few.open_rows >= self.costs.rows && !self.costs.is_forced {
            return Ok(None);
        }
        let (mut rows, mut open) = (few.rows.min(self.costs.rows), few.open_rows);
        if let Some(found) = few.found {
            (rows, open) = (found.rows().len() as u64, found.open_rows());
            self.found.insert(Arc::as_ptr(tree).addr(), found);
        }
        // Candidates of other kinds come in units, of which each is one place.
        let places = float(rows) / float(few.unit_rows.max(1));
        Ok(Some(Priced {
            tree: Arc::clone(tree),
            // What is open is scanned.
            lookup: places * ROW_BYTES + float(open) * self.row_bytes,
            rows: float(rows) + float(open),
            places,
            is_whole: few.is_sure && self.operands[operand].is_whole(wanted),
            is_open: open > 0 || !few.is_sure,
        }))
    }

    fn priced_both(&mut self, parts: &[Arc<Tree>], is_whole: bool) -> Result<Option<Priced>, I::Error> {
        let mut priced = Vec::with_capacity(parts.len());
        for part in parts {
            priced.extend(self.priced(part)?);
        }
        priced.sort_by(|a, b| a.rows.total_cmp(&b.rows));
        let is_all = |taken: &[Priced]| is_whole && taken.len() == parts.len();
        let mut best: Option<Priced> = None;
        for at in 1..=priced.len() {
            let more = self.joined(&priced[..at], is_all(&priced[..at]));
            let is_better = match &best {
                None => true,
                Some(best) => {
                    let saved = self.computed(best) - self.computed(&more);
                    let lookup = more.lookup - best.lookup;
                    self.costs.is_forced || self.is_worth(lookup, saved)?
                }
            };
            if is_better {
                best = Some(more);
            }
        }
        Ok(best)
    }

    /// Some parts of a tree together: rows are in both by chance, as far as is known.
    fn joined(&self, parts: &[Priced], is_all: bool) -> Priced {
        let (mut rows, mut places) = (parts[0].rows, parts[0].places);
        for one in &parts[1..] {
            rows *= one.rows / self.count.max(1.0);
            places = places.min(one.places).min(rows.max(1.0));
        }
        let trees: Vec<Arc<Tree>> = parts.iter().map(|one| Arc::clone(&one.tree)).collect();
        Priced {
            tree: match &trees[..] {
                [one] => Arc::clone(one),
                _ => Arc::new(Tree::Both { parts: trees, is_whole: is_all }),
            },
            lookup: parts.iter().map(|one| one.lookup).sum(),
            rows,
            places,
            is_whole: is_all && parts.iter().all(|one| one.is_whole),
            is_open: parts.iter().any(|one| one.is_open),
        }
    }

    fn priced_either(&mut self, tree: &Arc<Tree>, parts: &[Arc<Tree>]) -> Result<Option<Priced>, I::Error> {
        let mut priced = Vec::with_capacity(parts.len());
        for part in parts {
            priced.push(self.priced(part)?);
        }
        let Some(known) = priced.into_iter().collect::<Option<Vec<Priced>>>() else { return Ok(None) };
        let is_same = known.iter().zip(parts).all(|(one, part)| Arc::ptr_eq(&one.tree, part));
        Ok(Some(Priced {
            tree: if is_same {
                Arc::clone(tree)
            } else {
                Arc::new(Tree::Either(known.iter().map(|one| Arc::clone(&one.tree)).collect()))
            },
            lookup: known.iter().map(|one| one.lookup).sum(),
            rows: known.iter().map(|one| one.rows).sum::<f64>().min(self.count),
            places: known.iter().map(|one| one.places).sum(),
            is_whole: known.iter().all(|one| one.is_whole),
            is_open: known.iter().any(|one| one.is_open),
        }))
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use super::*;
    use crate::array::BoxSource;
    use crate::index::terms::Side;
    use crate::index::{KeyKind, KeyRanges};
    use crate::query::RowCondition;

    const ROWS: u64 = 1 << 20;

    /// What each index says: how many rows, and of how many it knows nothing; nothing if it is not usable.
    struct Said(Vec<Option<(u64, u64)>>);

    impl Indexes for Said {
        type Error = Infallible;

        fn few(&mut self, operand: usize, _: &Wanted) -> Result<Option<Few>, Infallible> {
            let few = |(rows, open_rows)| Few { rows, open_rows, found: None, unit_rows: 1, is_sure: true };
            Ok(self.0[operand].map(few))
        }

        fn scanned(&mut self) -> Result<f64, Infallible> {
            Ok(1.0)
        }
    }

    fn term(operand: usize) -> Arc<Tree> {
        Arc::new(Tree::Term(operand, Wanted::exactly(KeyRanges::points(&[1]), Some(false), None)))
    }

    fn answered(tree: &Arc<Tree>, said: Vec<Option<(u64, u64)>>, is_forced: bool) -> Chosen {
        let kind = KeyKind::by_name("int64").unwrap();
        let operand = Operand { kind, width: 0, can_be_nan: false, can_be_null: false };
        let parts =
            if let Tree::Both { parts, .. } = &**tree { &parts[..] } else { std::slice::from_ref(tree) };
        let rows = || -> Arc<dyn BoxSource> {
            Arc::new(RowCondition::new(&[], &[], ROWS, 1 << 14, 1 << 14).unwrap())
        };
        let side = |part: &Arc<Tree>| Side { source: rows(), tree: Some(Arc::clone(part)) };
        let terms = Terms { tree: Some(Arc::clone(tree)), sides: parts.iter().map(side).collect() };
        let costs =
            Costs { rows: ROWS, box_rows: 1 << 14, surveyed_bytes: 1e3, survey_bytes: 1e5, is_forced };
        chosen(&terms, &vec![operand; said.len()], 16, costs, &mut Said(said)).unwrap()
    }

    #[test]
    fn few_rows_are_looked_up_and_many_are_scanned() {
        for (rows, is_gain) in [(10, true), (1000, true), (ROWS / 2, false)] {
            let best = answered(&term(0), vec![Some((rows, 0))], false).best.unwrap();
            assert_eq!((best.is_gain, best.is_whole), (is_gain, true), "{rows}");
            assert!(answered(&term(0), vec![Some((rows, 0))], true).best.unwrap().is_gain);
        }
        assert!(answered(&term(0), vec![Some((10, ROWS))], false).best.is_none());
        assert_eq!(answered(&term(0), vec![None], false).useless, [0]);
    }

    #[test]
    fn of_both_the_one_with_few_rows_is_looked_up_and_of_either_all() {
        let both = Arc::new(Tree::Both { parts: vec![term(0), term(1)], is_whole: true });
        let best = answered(&both, vec![Some((ROWS / 2, 0)), Some((10, 0))], false).best.unwrap();
        assert!(matches!(*best.tree, Tree::Term(1, _)) && best.is_gain && !best.is_whole);
        let best = answered(&both, vec![Some((10, 0)), Some((10, 0))], true).best.unwrap();
        assert!(matches!(*best.tree, Tree::Both { is_whole: true, .. }) && best.is_whole);
        let either = Arc::new(Tree::Either(vec![term(0), term(1)]));
        let best = answered(&either, vec![Some((9, 0)), Some((10, 0))], false).best.unwrap();
        assert!(Arc::ptr_eq(&best.tree, &either) && best.is_whole && best.is_gain);
        assert!(answered(&either, vec![Some((9, 0)), None], false).best.is_none());
    }
}
