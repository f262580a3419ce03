//! A program whose operands are arrays: computes any box of its result.
//!
//! In: a program, and for each operand a source of boxes that broadcasts to the shape of the result. Out: a source
//! of boxes. For a box only what it needs of each operand is read, by the thread that computes it, into scratch
//! that the program then reads from the cache.
//! Operands that are one value all over the box are not decoded; where they all are, one item is computed. Where
//! their bounds decide a condition, nothing is decoded either; where they decide a part of it, what only that part
//! needs is not.

use std::any::Any;
use std::ops::Range;
use std::sync::atomic::Ordering;

use coquina_kernels::Type;
use coquina_kernels::items::Aligned;

use super::operands::{Counters, Input, Look, check_shape, check_unchanged, walk_of};
use crate::array::{self, Bounds, BoxSource, Known, Walk};
use crate::base::error::{Error, Result};
use crate::base::scratch::{Scratch, ScratchStack, with_scratch_of};
use crate::expr::{Interval, Operand, Program, Spread, SpreadAxis, Workspace};

/// A program bound to its operands.
pub struct Bound {
    program: Program,
    inputs: Vec<Input>,
    /// The shape of each operand when it was bound.
    shapes: Vec<Vec<u64>>,
    shape: Vec<u64>,
    /// Whether operands may have got more items since.
    grows: bool,
    walk: Walk,
    counters: Counters,
}

/// What a thread works in to compute one box.
#[derive(Default)]
struct BoxScratch {
    workspace: Workspace,
    items: Vec<Aligned>,
}

impl Scratch for BoxScratch {
    fn memory_bytes(&self) -> usize {
        self.items.iter().map(|room| room.all().len()).sum()
    }
}

thread_local! {
    static SCRATCH: ScratchStack<BoxScratch> = const { ScratchStack::new(32 << 20) };
}

/// May be nested: while a box is computed, one of its operands may be computed of others.
fn with_box_scratch<T>(work: impl FnOnce(&mut BoxScratch) -> T) -> T {
    with_scratch_of(&SCRATCH, work)
}

/// What an operand is on a box.
enum Part {
    /// One item for all, which had to be read or is known.
    One { item: Vec<u8>, is_read: bool },
    /// Its items of this box, in scratch.
    Box(Vec<u64>),
    /// It is not used.
    Unused,
}

impl Bound {
    /// Binds operands to a program; their shapes must broadcast to `shape`.
    ///
    /// # Errors
    /// `Invalid` for an operand that is missing, has items of another size, or does not broadcast to `shape`.
    pub fn new(program: Program, inputs: Vec<Input>, shape: Vec<u64>) -> Result<Self> {
        let shapes = inputs.iter().map(|input| input.source.shape()).collect();
        Self::of_shapes(program, inputs, shapes, shape)
    }

    /// Binds the columns of a table to a program, as of its first `rows` rows: others may be appended at any time.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn of_rows(program: Program, inputs: Vec<Input>, rows: u64) -> Result<Self> {
        let first = |input: &Input| {
            let mut shape = input.source.shape();
            if let Some(len) = shape.first_mut() {
                *len = rows.min(*len);
            }
            shape
        };
        let shapes = inputs.iter().map(first).collect();
        Ok(Self { grows: true, ..Self::of_shapes(program, inputs, shapes, vec![rows])? })
    }

    fn of_shapes(
        program: Program,
        inputs: Vec<Input>,
        shapes: Vec<Vec<u64>>,
        shape: Vec<u64>,
    ) -> Result<Self> {
        for (number, ty) in program.operands().iter().enumerate() {
            let Some(input) = inputs.get(number) else {
                return Err(Error::invalid(format!("operand {number}: is missing")));
            };
            let found = input.source.item_bytes();
            if let Some(ty) = ty
                && found != ty.bytes()
            {
                let (name, wanted) = (ty.name(), ty.bytes());
                return Err(Error::invalid(format!(
                    "operand {number}: items of {found} bytes, {name} has {wanted}"
                )));
            }
            check_shape(&shapes[number], &shape).map_err(|e| e.at(format!("operand {number}")))?;
        }
        let walk = walk_of(inputs.iter().zip(&shapes), &shape, program.output().bytes())?;
        Ok(Self { program, inputs, shapes, shape, grows: false, walk, counters: Counters::default() })
    }

    /// The program.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// The operands, by number.
    pub fn inputs(&self) -> &[Input] {
        &self.inputs
    }

    /// One of the nodes of the program by itself.
    ///
    /// # Errors
    /// `Invalid` for one that there is not.
    pub fn part(&self, node: usize) -> Result<Self> {
        let program = Program::new(&self.program.tree().part(node)?)?;
        let (inputs, shapes) = (self.inputs.clone(), self.shapes.clone());
        Ok(Self { grows: self.grows, ..Self::of_shapes(program, inputs, shapes, self.shape.clone())? })
    }

    /// What has been done so far.
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    fn check_operands(&self) -> Result<()> {
        check_unchanged(&self.inputs, &self.shapes, self.grows)
    }

    /// The operands that are used: each with its type, and its box that a box of the result needs.
    fn boxes<'b>(
        &'b self,
        start: &'b [u64],
        shape: &'b [u64],
    ) -> impl Iterator<Item = (&'b Input, Option<Type>, Vec<u64>, Vec<u64>)> {
        self.inputs.iter().zip(&self.shapes).zip(self.program.operands()).map(move |((input, lens), &ty)| {
            let skipped = shape.len() - lens.len();
            let axes = lens.iter().zip(&start[skipped..]).zip(&shape[skipped..]).zip(&self.shape[skipped..]);
            let own =
                |(((&len, &at), &count), &full)| if len == 1 && full != 1 { (0, 1) } else { (at, count) };
            let (start, shape) = axes.map(own).unzip();
            (input, ty, start, shape)
        })
    }

    /// What is known of the operands on a box of a condition without decoding any.
    fn look(&self, start: &[u64], shape: &[u64]) -> Look {
        if let (&[start], &[len]) = (start, shape)
            && len > 0
            && self.possible_rows(&(start..start.saturating_add(len))).is_none()
        {
            // One operand says so, and the others need not be looked at: a look may cost a fetch.
            return Look { known: Vec::new(), result: Some(vec![0]), needed: Vec::new() };
        }
        let known = self.boxes(start, shape).map(|(input, ty, start, shape)| match ty {
            Some(_) => input.source.known(&start, &shape),
            None => Known::Nothing,
        });
        let known: Vec<Known> = known.collect();
        if known.iter().all(|known| *known == Known::Nothing) {
            return Look { known, result: None, needed: Vec::new() };
        }
        let interval = |(known, ty): (&Known, &Option<Type>)| match known {
            Known::Nothing => None,
            Known::Item(item) => Interval::one(item, (*ty)?),
            Known::Bounds(Bounds { min, max, has_nan, .. }) => Interval::new(min, max, *has_nan, (*ty)?),
        };
        let intervals: Vec<_> = known.iter().zip(self.program.operands()).map(interval).collect();
        let (found, needed) = self.program.interval_and_needs(&intervals);
        let result = found.filter(|found| found.min == found.max).map(|found| found.min.to_vec());
        Look { known, result, needed }
    }

    /// The rows of a range for which a condition may be true, as far as operands know of themselves.
    fn possible_rows(&self, rows: &Range<u64>) -> Option<Range<u64>> {
        self.program.possible(rows, |operand| match self.inputs.get(operand) {
            Some(input) if self.shapes[operand] == self.shape => input.source.possible(rows.clone()),
            _ => Some(rows.clone()),
        })
    }

    /// What each operand is on a box; those that are boxes of items are read into `items`.
    fn parts(
        &self,
        start: &[u64],
        shape: &[u64],
        mut look: Option<Look>,
        items: &mut Vec<Aligned>,
    ) -> Result<Vec<Part>> {
        if items.len() < self.inputs.len() {
            items.resize_with(self.inputs.len(), Aligned::new);
        }
        let mut parts = Vec::with_capacity(self.inputs.len());
        for (n, ((input, ty, start, shape), room)) in
            self.boxes(start, shape).zip(items.iter_mut()).enumerate()
        {
            let Some(ty) = ty else {
                parts.push(Part::Unused);
                continue;
            };
            let item = match &mut look {
                Some(look) => look.item(n, ty, &self.counters),
                None => input.source.uniform(&start, &shape),
            };
            parts.push(match item {
                Some(item) => Part::One { item, is_read: false },
                None => part(input, &start, shape, room)?,
            });
        }
        Ok(parts)
    }

    fn compute(
        &self,
        start: &[u64],
        shape: &[u64],
        look: Option<Look>,
        out: &mut [u8],
        scratch: &mut BoxScratch,
    ) -> Result<()> {
        let BoxScratch { workspace, items } = scratch;
        let parts = self.parts(start, shape, look, items)?;
        let is_one = parts.iter().all(|part| !matches!(part, Part::Box(_)));
        let operands: Vec<Operand<'_>> = parts
            .iter()
            .zip(items.iter())
            .enumerate()
            .map(|(n, (p, room))| self.operand(n, p, room, shape))
            .collect();
        let width = self.program.output().bytes();
        if is_one {
            let is_read = parts.iter().any(|part| matches!(part, Part::One { is_read: true, .. }));
            let counter = if is_read { &self.counters.computed } else { &self.counters.known };
            counter.fetch_add(1, Ordering::Relaxed);
            let (first, rest) = out.split_at_mut(width.min(out.len()));
            self.program.run(&operands, first, workspace);
            rest.chunks_mut(width).for_each(|item| item.copy_from_slice(first));
        } else {
            self.counters.computed.fetch_add(1, Ordering::Relaxed);
            self.program.run(&operands, out, workspace);
        }
        Ok(())
    }

    /// The one item of a box, if it is known; else `out` is filled.
    fn known_or_fill(&self, start: &[u64], shape: &[u64], out: &mut [u8]) -> Result<Option<Vec<u8>>> {
        let mut look = None;
        if self.program.is_condition() {
            let found = look.insert(self.look(start, shape));
            if let Some(item) = found.result.take().or_else(|| self.of_items(&found.known)) {
                return Ok(Some(item));
            }
        }
        with_box_scratch(|scratch| self.compute(start, shape, look, out, scratch)).map(|()| None)
    }

    /// The result of operands that are one item each.
    fn of_items<'k>(&self, known: &'k [Known]) -> Option<Vec<u8>> {
        let operand = |(known, ty): (&'k Known, &Option<Type>)| match known {
            Known::Item(item) => Some(Operand::One(item)),
            _ => ty.is_none().then_some(Operand::One(&[])),
        };
        // Mostly one is not, and nothing is allocated.
        let operands: Option<Vec<_>> = known.iter().zip(self.program.operands()).map(operand).collect();
        let operands = operands?;
        let mut out = vec![0; self.item_bytes()];
        with_box_scratch(|scratch| self.program.run(&operands, &mut out, &mut scratch.workspace));
        Some(out)
    }

    /// An operand for the program, of a box of this shape.
    fn operand<'a>(&self, number: usize, part: &'a Part, room: &'a Aligned, shape: &[u64]) -> Operand<'a> {
        let lens = match part {
            Part::One { item, .. } => return Operand::One(item),
            Part::Unused => return Operand::One(&[]),
            Part::Box(lens) => lens,
        };
        let width = self.program.operands().get(number).copied().flatten().map_or(0, |ty| ty.bytes());
        let size = |items: &[u64]| usize::try_from(items.iter().product::<u64>()).unwrap_or(usize::MAX);
        let items = &room.all()[..size(lens) * width];
        if size(lens) == size(shape) {
            return Operand::Items(items);
        }
        let skipped = shape.len() - lens.len();
        let mut step = 1;
        let mut axes = Vec::with_capacity(shape.len());
        for (axis, &len) in shape.iter().enumerate().rev() {
            let len = usize::try_from(len).unwrap_or(usize::MAX);
            let own = axis.checked_sub(skipped).map_or(1, |own| lens[own]);
            let is_spread = own == 1;
            axes.push(SpreadAxis { len, step: if is_spread { 0 } else { step } });
            step *= usize::try_from(own).unwrap_or(usize::MAX);
        }
        axes.reverse();
        Operand::Spread(Spread::new(items, width, &axes))
    }
}

impl BoxSource for Bound {
    fn as_any(&self) -> Option<&dyn Any> {
        Some(self)
    }

    fn shape(&self) -> Vec<u64> {
        self.shape.clone()
    }

    fn item_bytes(&self) -> usize {
        self.program.output().bytes()
    }

    fn walk(&self) -> Walk {
        self.walk.clone()
    }

    fn fill(&self, start: &[u64], shape: &[u64], out: &mut [u8]) -> Result<()> {
        array::check_box(&self.shape, start, shape, self.item_bytes(), out.len())?;
        self.check_operands()?;
        if out.is_empty() {
            return Ok(());
        }
        if let Some(item) = array::at_once(|| self.known_or_fill(start, shape, out))? {
            self.counters.known.fetch_add(1, Ordering::Relaxed);
            out.chunks_mut(item.len().max(1)).for_each(|out| out.copy_from_slice(&item));
        }
        Ok(())
    }

    fn uniform(&self, start: &[u64], shape: &[u64]) -> Option<Vec<u8>> {
        self.check_operands().ok()?;
        if self.program.is_condition() {
            let look = self.look(start, shape);
            return look.result.or_else(|| self.of_items(&look.known));
        }
        let mut items = Vec::with_capacity(self.inputs.len());
        for (input, ty, start, shape) in self.boxes(start, shape) {
            items.push(match ty {
                Some(_) => Known::Item(input.source.uniform(&start, &shape)?),
                None => Known::Nothing,
            });
        }
        self.of_items(&items)
    }

    fn possible(&self, rows: Range<u64>) -> Option<Range<u64>> {
        // An operand that has been resized is an error of whoever reads it.
        let knows = self.shape.len() == 1 && self.program.output() == Type::Bool && !rows.is_empty();
        if knows && self.check_operands().is_ok() {
            return self.possible_rows(&rows);
        }
        (!rows.is_empty()).then_some(rows)
    }

    fn uniform_or_fill(&self, start: &[u64], shape: &[u64], out: &mut [u8]) -> Result<Option<Vec<u8>>> {
        array::check_box(&self.shape, start, shape, self.item_bytes(), out.len())?;
        self.check_operands()?;
        if out.is_empty() {
            return Ok(None);
        }
        let is_condition = self.program.is_condition();
        let known = || if is_condition { None } else { self.uniform(start, shape) };
        array::at_once(|| match known() {
            None => self.known_or_fill(start, shape, out),
            item => Ok(item),
        })
    }
}

/// An operand on a box of its own, its items read into `room`.
fn part(input: &Input, start: &[u64], shape: Vec<u64>, room: &mut Aligned) -> Result<Part> {
    let items = shape.iter().product::<u64>();
    let bytes = usize::try_from(items).ok().and_then(|n| n.checked_mul(input.source.item_bytes()));
    let bytes = bytes.ok_or_else(|| Error::limit(format!("a box of {items} items")))?;
    let room = room.room(bytes);
    input.source.fill(start, &shape, room)?;
    Ok(if items == 1 { Part::One { item: room.to_vec(), is_read: true } } else { Part::Box(shape) })
}
