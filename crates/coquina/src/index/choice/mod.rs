//! How a condition on a table is answered: by which of its indexes, or by a scan.
//!
//! In: the indexes of a table, and conditions. Out: [`IndexChoice`]: the rows that indexes give, and the condition that is
//! left to be computed. Tables of the engine and those of Python choose by this.
//! Invariant: an index is asked only for rows that it knows; of all others the condition itself is computed.

mod answer;

pub use answer::IndexChoice;

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use coquina_kernels::Type;

use super::terms::{Best, Chosen, Costs, Few, Indexes, Operand, Operands, Terms, Tree, chosen, row_bytes};
use super::{RowSet, Wanted};
use crate::array::BoxSource;
use crate::base::error::Result;
use crate::base::pool::Job;
use crate::query::{QueryColumn, survey};

/// Conditions whose terms are kept.
const KEPT_TERMS: usize = 64;

/// What a condition asks of one index.
#[derive(Clone, Copy)]
pub struct IndexTerm<'t> {
    /// Keys.
    pub wanted: &'t Wanted,
    /// Whether rows without a key meet it; nothing where some may.
    pub missing: Option<bool>,
}

/// An index that conditions are answered by.
pub trait LookupIndex: Send + Sync {
    /// Its name.
    ///
    /// # Errors
    /// What goes wrong with asking it.
    fn name(&self) -> Result<String>;

    /// Whether it can be asked.
    ///
    /// # Errors
    /// What goes wrong with asking it.
    fn is_usable(&self) -> Result<bool>;

    /// About how many rows meet a term, and these if they are no more than `rows_max`; nothing if it cannot be asked.
    ///
    /// # Errors
    /// What goes wrong with reading.
    fn few(&self, term: &IndexTerm<'_>, rows_max: u64, job: &Job<'_>) -> Result<Option<Few>>;

    /// The rows that meet a term.
    ///
    /// # Errors
    /// What goes wrong with reading.
    fn lookup(&self, term: &IndexTerm<'_>, job: &Job<'_>) -> Result<RowSet>;

    /// How many rows meet a term, if it knows the number.
    ///
    /// # Errors
    /// What goes wrong with reading.
    fn count(&self, term: &IndexTerm<'_>, job: &Job<'_>) -> Result<Option<u64>>;
}

/// What an index was made of.
#[derive(Clone)]
pub enum IndexedValues {
    /// A column.
    Column(QueryColumn),
    /// Numbers that are computed.
    Expression(Arc<dyn BoxSource>, Type),
}

/// An index, and where its values are found in conditions.
#[derive(Clone)]
pub struct QueryIndex {
    /// The index.
    pub index: Arc<dyn LookupIndex>,
    /// How its keys are made.
    pub operand: Operand,
    /// What it was made of.
    pub values: IndexedValues,
    /// The same values as conditions may compute them otherwise.
    pub computed: Option<Arc<dyn BoxSource>>,
    /// The mask of the column, as conditions may compute it otherwise.
    pub mask: Option<Arc<dyn BoxSource>>,
}

/// The rows of a table.
#[derive(Clone, Copy, Debug)]
pub struct IndexedRows {
    /// How many there are.
    pub rows: u64,
    /// Rows of a chunk.
    pub chunk_rows: u64,
    /// Rows of a block.
    pub block_rows: u64,
    /// Whether zone maps can change, and are not asked.
    pub is_writable: bool,
}

/// What the choice depends on beside data.
#[derive(Clone, Copy, Debug)]
pub struct ChoiceParams {
    /// Whether indexes are used whatever they cost.
    pub is_forced: bool,
    /// What asking zone maps costs for each box of the table.
    pub surveyed_bytes: f64,
    /// What asking zone maps costs in any case.
    pub survey_bytes: f64,
    /// Rows of so few are looked up to learn how many they are: estimates are in blocks of an index.
    pub looked_up_rows: u64,
}

impl Default for ChoiceParams {
    fn default() -> Self {
        Self { is_forced: false, surveyed_bytes: 1024.0, survey_bytes: 131_072.0, looked_up_rows: 1 << 15 }
    }
}

/// Indexes that can be asked, and what conditions ask of them.
struct Askable {
    operands: Operands,
    /// Those of the operands.
    indexes: Vec<Arc<dyn LookupIndex>>,
    /// Which of all indexes they are.
    numbers: Vec<usize>,
    terms: Mutex<Vec<KnownTerms>>,
}

/// What a condition asks, and what is decoded for each row to compute it.
pub struct ConditionTerms {
    /// What it asks.
    pub terms: Terms,
    row_bytes: u64,
}

struct KnownTerms {
    condition: Weak<dyn BoxSource>,
    terms: Arc<ConditionTerms>,
}

/// Chooses for the conditions on a table: it holds for the columns and indexes that it was made of.
pub struct IndexChooser {
    all: Vec<QueryIndex>,
    state: Mutex<State>,
}

struct State {
    /// Indexes that could not be asked when they were wanted.
    useless: Vec<usize>,
    askable: Arc<Askable>,
}

impl Askable {
    fn new(all: &[QueryIndex], useless: &[usize]) -> Result<Self> {
        let (mut operands, mut indexes, mut numbers) = (Operands::default(), Vec::new(), Vec::new());
        for (number, one) in all.iter().enumerate().filter(|(number, _)| !useless.contains(number)) {
            match &one.values {
                IndexedValues::Column(column) => operands.add_column(one.operand, column)?,
                IndexedValues::Expression(source, ty) => operands.add_expression(one.operand, source, *ty),
            }
            one.computed.iter().for_each(|values| operands.add_values(values));
            one.mask.iter().for_each(|mask| operands.add_mask(mask));
            indexes.push(Arc::clone(&one.index));
            numbers.push(number);
        }
        Ok(Self { operands, indexes, numbers, terms: Mutex::default() })
    }

    fn terms(&self, condition: &Arc<dyn BoxSource>) -> Result<Arc<ConditionTerms>> {
        // What is held weakly keeps its address, so that nothing else has it.
        let is_this =
            |known: &KnownTerms| std::ptr::addr_eq(known.condition.as_ptr(), Arc::as_ptr(condition));
        if let Some(known) = locked(&self.terms).iter().find(|known| is_this(known)) {
            return Ok(Arc::clone(&known.terms));
        }
        let terms = self.operands.terms(condition)?;
        let terms = Arc::new(ConditionTerms { terms, row_bytes: row_bytes(condition) });
        let mut kept = locked(&self.terms);
        kept.retain(|known| known.condition.strong_count() > 0);
        if kept.len() >= KEPT_TERMS {
            kept.remove(0);
        }
        kept.push(KnownTerms { condition: Arc::downgrade(condition), terms: Arc::clone(&terms) });
        Ok(terms)
    }

    fn term<'t>(&self, operand: usize, wanted: &'t Wanted) -> IndexTerm<'t> {
        IndexTerm { wanted, missing: self.operands.all()[operand].missing(wanted) }
    }

    /// The names of the indexes that a tree asks, in order.
    fn names(&self, tree: &Tree) -> Result<Vec<String>> {
        fn collect(askable: &Askable, tree: &Tree, names: &mut BTreeSet<String>) -> Result<()> {
            match tree {
                Tree::Known(_) => {}
                Tree::Term(operand, _) => {
                    names.insert(askable.indexes[*operand].name()?);
                }
                Tree::Both { parts, .. } | Tree::Either(parts) => {
                    parts.iter().try_for_each(|part| collect(askable, part, names))?;
                }
            }
            Ok(())
        }
        let mut names = BTreeSet::new();
        collect(self, tree, &mut names)?;
        Ok(names.into_iter().collect())
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl IndexChooser {
    /// For these indexes; of several that are of one column the first that can be asked is.
    ///
    /// # Errors
    /// What goes wrong with the values of columns.
    pub fn new(all: Vec<QueryIndex>) -> Result<Self> {
        let askable = Arc::new(Askable::new(&all, &[])?);
        Ok(Self { all, state: Mutex::new(State { useless: Vec::new(), askable }) })
    }

    /// What a condition asks of the indexes, and the numbers of those that are the operands of it.
    ///
    /// # Errors
    /// What goes wrong with computing constants of the condition.
    pub fn terms(&self, condition: &Arc<dyn BoxSource>) -> Result<(Arc<ConditionTerms>, Vec<usize>)> {
        let askable = self.askable()?;
        Ok((askable.terms(condition)?, askable.numbers.clone()))
    }

    /// The operand of an index.
    pub fn operand(&self, number: usize) -> Operand {
        self.all[number].operand
    }

    /// The indexes without those that could not be asked, and still cannot.
    fn askable(&self) -> Result<Arc<Askable>> {
        let (known, askable) = {
            let state = locked(&self.state);
            (state.useless.clone(), Arc::clone(&state.askable))
        };
        if known.is_empty() {
            return Ok(askable);
        }
        let mut useless = Vec::with_capacity(known.len());
        for &number in &known {
            // Nothing is locked here: an index may ask who holds other locks.
            if !self.all[number].index.is_usable()? {
                useless.push(number);
            }
        }
        if useless == known { Ok(askable) } else { self.without(useless) }
    }

    fn without(&self, useless: Vec<usize>) -> Result<Arc<Askable>> {
        let askable = Arc::new(Askable::new(&self.all, &useless)?);
        *locked(&self.state) = State { useless, askable: Arc::clone(&askable) };
        Ok(askable)
    }

    /// The cheapest way to find the rows of a condition. Only indexes that are wanted are asked: whether they can be is
    /// seen then.
    ///
    /// # Errors
    /// What goes wrong with reading.
    pub fn choose(
        &self,
        condition: &Arc<dyn BoxSource>,
        table: IndexedRows,
        params: ChoiceParams,
        job: &Job<'_>,
    ) -> Result<IndexChoice> {
        let mut askable = self.askable()?;
        loop {
            let asking = Asking { askable: &askable, condition, table, params, job, is_surveyed: false };
            let (choice, useless) = asking.choose()?;
            if useless.is_empty() {
                return Ok(choice);
            }
            let mut all: Vec<usize> = locked(&self.state).useless.clone();
            all.extend(useless.into_iter().map(|operand| askable.numbers[operand]));
            all.sort_unstable();
            all.dedup();
            askable = self.without(all)?;
        }
    }
}

/// Asks the indexes for a condition.
struct Asking<'a> {
    askable: &'a Arc<Askable>,
    condition: &'a Arc<dyn BoxSource>,
    table: IndexedRows,
    params: ChoiceParams,
    job: &'a Job<'a>,
    is_surveyed: bool,
}

impl Indexes for Asking<'_> {
    type Error = crate::base::error::Error;

    fn few(&mut self, operand: usize, wanted: &Wanted) -> Result<Option<Few>> {
        let term = self.askable.term(operand, wanted);
        self.askable.indexes[operand].few(&term, self.params.looked_up_rows, self.job)
    }

    fn scanned(&mut self) -> Result<f64> {
        if self.table.is_writable {
            return Ok(1.0);
        }
        self.is_surveyed = true;
        let (boxes, unknown) = survey(&**self.condition, 0, self.table.rows, self.job)?;
        #[expect(clippy::cast_precision_loss, reason = "it is an estimate")]
        Ok(unknown as f64 / boxes.max(1) as f64)
    }
}

impl Asking<'_> {
    /// The choice, and the operands whose indexes were wanted and could not be asked.
    fn choose(mut self) -> Result<(IndexChoice, Vec<usize>)> {
        let askable = self.askable;
        let known = askable.terms(self.condition)?;
        let tree = match &known.terms.tree {
            None => return Ok((IndexChoice::scan("no index applies to the condition"), Vec::new())),
            Some(tree) if matches!(**tree, Tree::Known(_)) => {
                return Ok((IndexChoice::scan("the condition is the same for all rows"), Vec::new()));
            }
            Some(tree) => tree,
        };
        let costs = Costs {
            rows: self.table.rows,
            box_rows: self.table.block_rows,
            surveyed_bytes: self.params.surveyed_bytes,
            survey_bytes: self.params.survey_bytes,
            is_forced: self.params.is_forced,
        };
        let operands = askable.operands.all();
        let Chosen { best, found, useless } =
            chosen(&known.terms, operands, known.row_bytes, costs, &mut self)?;
        let mut choice = match best {
            None => {
                let names = askable.names(tree)?.join(", ");
                IndexChoice::scan(format!("{names}: knows nothing of these rows"))
            }
            Some(best) => self.choice(&known.terms, &best, found)?,
        };
        choice.is_surveyed = self.is_surveyed;
        Ok((choice, useless))
    }

    /// The best way, or a scan if that costs less.
    fn choice(&self, terms: &Terms, best: &Best, found: HashMap<usize, RowSet>) -> Result<IndexChoice> {
        let askable = self.askable;
        let names = askable.names(&best.tree)?;
        let reason = format!("some {} of {} rows", best.rows.round_ties_even(), self.table.rows);
        if !best.is_gain {
            return Ok(IndexChoice::scan(format!("a scan costs less: {reason} by {}", names.join(", "))));
        }
        let rest = || terms.rest(&best.tree, askable.operands.all()).map(Arc::clone).collect();
        let rest = if best.is_whole { Vec::new() } else { rest() };
        let (tree, is_whole) = (Arc::clone(&best.tree), best.is_whole);
        let answer = answer::Answer { askable: Arc::clone(askable), tree, found, rest, is_whole };
        Ok(IndexChoice { answer: Some(answer), names, reason, is_surveyed: false })
    }
}
