//! A compiled expression: steps over registers that stay in the innermost cache, batch by batch.
//!
//! In: for each operand its items, or one for all, or items that are spread over a box. Out: the items of the result.
//! Plain version: one step after the other over all items. The real one takes some thousand bytes at a time
//! through all steps, so that what lies between two steps never reaches memory.

use coquina_kernels::elementwise::Run;
use coquina_kernels::items::Aligned;
use coquina_kernels::{Level, Type, best_level};

use super::rule::Rule;
use super::spread::{Spread, repeat};
use super::tree::Tree;

/// Where an argument of a step is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Operand(usize),
    Constant(usize),
    Register(usize),
    Out,
}

pub(super) struct Step {
    pub(super) run: Run,
    pub(super) args: Vec<Place>,
    pub(super) out: Place,
    pub(super) item_bytes: usize,
}

/// A compiled expression.
pub struct Program {
    pub(super) tree: Tree,
    /// How bounds follow from bounds, node by node.
    pub(super) rules: Vec<Rule>,
    pub(super) steps: Vec<Step>,
    pub(super) constants: Vec<Vec<u8>>,
    pub(super) operands: Vec<Option<Type>>,
    pub(super) registers: usize,
    pub(super) batch_items: usize,
    pub(super) result: Place,
    pub(super) output: Type,
}

/// The items of an operand.
pub enum Operand<'a> {
    /// As many as there are results, aligned.
    Items(&'a [u8]),
    /// One for all.
    One(&'a [u8]),
    /// Spread over the box of the results.
    Spread(Spread<'a>),
}

/// The most arguments that a kernel has.
const ARGS_MAX: usize = 4;

/// Working memory of a program; reused, as fresh memory is slow to touch.
#[derive(Default)]
pub struct Workspace {
    registers: Vec<Aligned>,
    constants: Vec<Aligned>,
    operands: Vec<Aligned>,
    out: Aligned,
}

fn rooms(rooms: &mut Vec<Aligned>, count: usize) {
    if rooms.len() < count {
        rooms.resize_with(count, Aligned::new);
    }
}

impl Program {
    /// The tree that it was compiled of.
    pub fn tree(&self) -> &Tree {
        &self.tree
    }

    /// The type of the result's items.
    pub fn output(&self) -> Type {
        self.output
    }

    /// The type of each operand's items; none for those that are not used after all.
    pub fn operands(&self) -> &[Option<Type>] {
        &self.operands
    }

    /// How many kernels run over each batch.
    pub fn steps(&self) -> usize {
        self.steps.len()
    }

    /// How many registers they share.
    pub fn registers(&self) -> usize {
        self.registers
    }

    /// How many items go through all steps at a time.
    pub fn batch_items(&self) -> usize {
        self.batch_items
    }

    /// Computes the items of `out`, which is made of whole items.
    ///
    /// # Panics
    /// If an operand is missing, or has too few items.
    pub fn run(&self, operands: &[Operand<'_>], out: &mut [u8], space: &mut Workspace) {
        self.run_at(best_level(), operands, out, space);
    }

    pub(super) fn run_at(
        &self,
        level: Level,
        operands: &[Operand<'_>],
        out: &mut [u8],
        space: &mut Workspace,
    ) {
        let width = self.output.bytes();
        self.prepare(operands, self.batch_items.min(out.len() / width), space);
        let is_aligned = out.as_ptr().addr().is_multiple_of(width.min(8));
        let mut start = 0;
        for out in out.chunks_mut(self.batch_items * width) {
            let len = out.len() / width;
            self.spread(operands, start, len, space);
            if self.steps.is_empty() {
                out.copy_from_slice(self.arg(self.result, operands, start, len, space));
            } else if is_aligned {
                self.batch(level, operands, start, out, space);
            } else {
                let mut room = std::mem::take(&mut space.out);
                let bytes = room.room(out.len());
                self.batch(level, operands, start, bytes, space);
                out.copy_from_slice(bytes);
                space.out = room;
            }
            start += len;
        }
    }

    /// Repeats what is one item for all, as often as a batch needs it.
    fn prepare(&self, operands: &[Operand<'_>], items: usize, space: &mut Workspace) {
        rooms(&mut space.registers, self.registers);
        rooms(&mut space.constants, self.constants.len());
        rooms(&mut space.operands, self.operands.len());
        for (room, item) in space.constants.iter_mut().zip(&self.constants) {
            repeat(item, room.room(item.len() * items));
        }
        for (room, operand) in space.operands.iter_mut().zip(operands) {
            if let Operand::One(item) = operand {
                repeat(item, room.room(item.len() * items));
            }
        }
    }

    /// Spreads the items of one batch.
    fn spread(&self, operands: &[Operand<'_>], start: usize, len: usize, space: &mut Workspace) {
        for ((room, operand), ty) in space.operands.iter_mut().zip(operands).zip(&self.operands) {
            if let (Operand::Spread(spread), Some(ty)) = (operand, ty) {
                spread.fill(start, room.room(len * ty.bytes()));
            }
        }
    }

    /// The items of an argument for one batch.
    fn arg<'a>(
        &self,
        place: Place,
        operands: &'a [Operand<'_>],
        start: usize,
        len: usize,
        space: &'a Workspace,
    ) -> &'a [u8] {
        match place {
            Place::Operand(number) => {
                let width = self.operands[number].map_or(0, Type::bytes);
                match &operands[number] {
                    Operand::Items(bytes) => &bytes[start * width..][..len * width],
                    _ => &space.operands[number].all()[..len * width],
                }
            }
            Place::Constant(number) => &space.constants[number].all()[..len * self.constants[number].len()],
            Place::Register(number) => space.registers[number].all(),
            Place::Out => &[],
        }
    }

    /// All steps over one batch.
    fn batch(
        &self,
        level: Level,
        operands: &[Operand<'_>],
        start: usize,
        out: &mut [u8],
        space: &mut Workspace,
    ) {
        let len = out.len() / self.output.bytes();
        // Registers hold items of any width; how many bytes count follows from who wrote them.
        let mut widths = vec![0; self.registers];
        for step in &self.steps {
            let mut room = match step.out {
                Place::Register(number) => std::mem::take(&mut space.registers[number]),
                _ => Aligned::new(),
            };
            let mut args: [&[u8]; ARGS_MAX] = [&[]; ARGS_MAX];
            for (arg, &place) in args.iter_mut().zip(&step.args) {
                *arg = self.arg(place, operands, start, len, space);
                if let Place::Register(number) = place {
                    *arg = &arg[..len * widths[number]];
                }
            }
            let args = &args[..step.args.len()];
            match step.out {
                Place::Register(number) => {
                    (step.run)(level, args, room.room(len * step.item_bytes));
                    space.registers[number] = room;
                    widths[number] = step.item_bytes;
                }
                _ => (step.run)(level, args, out),
            }
        }
    }
}
