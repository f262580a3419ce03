//! Boxes of a source into one buffer: what reading is for what is computed.
//!
//! In: a source, and a box of it of any size. Out: its items in C order. The box is cut where the walk of the source
//! is, and the parts are filled as one job: straight into the buffer where they lie there in one piece.

use coquina_kernels::boxes::{AXES_MAX, SharedOutput, Steps};

use crate::array::geometry::{
    BoxSource, Grid, Plan, Selection, TASK_BYTES_MAX, TASK_BYTES_MIN, Touched, Walk, block_runs, check_box,
};
use crate::base::error::Result;
use crate::base::pool::Job;
use crate::base::scratch::with_scratch;

/// Fills `out` with the items of the box of `shape` at `start`.
///
/// # Errors
/// As [`BoxSource::fill`], and `Cancelled`.
pub fn gather(
    source: &dyn BoxSource,
    start: &[u64],
    shape: &[u64],
    out: &mut [u8],
    job: &Job<'_>,
) -> Result<()> {
    let full = source.shape();
    check_box(&full, start, shape, source.item_bytes(), out.len())?;
    if out.is_empty() {
        return Ok(());
    }
    let Walk { chunks, blocks } = source.walk();
    let grid = Grid::new(&full, &chunks, &blocks, source.item_bytes())?;
    let ranges: Vec<_> = start.iter().zip(shape).map(|(&start, &len)| start..start + len).collect();
    let plan = Plan::new(&Selection::region(&ranges), &grid);
    let output = SharedOutput::new(out, grid.typesize(), plan.cuts());
    let block_bytes = grid.block_bytes();
    let blocks = usize::try_from(plan.nblocks()).unwrap_or(usize::MAX);
    let total = blocks.saturating_mul(block_bytes);
    let task_bytes = (total / (4 * job.width(total))).clamp(TASK_BYTES_MIN, TASK_BYTES_MAX);
    let task_blocks = (task_bytes / block_bytes).max(1);
    let tasks = plan.chunks().flat_map(|touched| block_runs(touched, task_blocks));
    let part = Part { source, start, plan: &plan, output: &output };
    job.run(total, tasks, |(touched, first, count)| {
        let mut groups = [0; AXES_MAX];
        for number in first..first + count {
            part.fill(&touched, number, &mut groups[..start.len()])?;
        }
        Ok(count * block_bytes)
    })
}

struct Part<'p> {
    source: &'p dyn BoxSource,
    start: &'p [u64],
    plan: &'p Plan,
    output: &'p SharedOutput<'p>,
}

impl Part<'_> {
    /// Fills the cell of one touched block.
    fn fill(&self, touched: &Touched, number: usize, groups: &mut [usize]) -> Result<()> {
        touched.block(self.plan, number, groups);
        let (at, shape) = self.plan.positions(groups);
        let start: Vec<u64> = at.iter().zip(self.start).map(|(at, start)| at + start).collect();
        let mut cell = self.output.cell(groups);
        if let Some(out) = cell.as_slice_mut() {
            return self.source.fill(&start, &shape, out);
        }
        let item = self.source.item_bytes();
        let lens: Vec<usize> = self.plan.lens(groups).collect();
        with_scratch(lens.iter().product::<usize>() * item, |room| {
            self.source.fill(&start, &shape, room)?;
            let mut steps = [Steps::Even { start: 0, step: 0 }; AXES_MAX];
            let mut stride = item;
            for (step, &len) in steps[..lens.len()].iter_mut().zip(&lens).rev() {
                *step = Steps::Even { start: 0, step: stride.cast_signed() };
                stride *= len;
            }
            cell.copy_from(room, &steps[..lens.len()]);
            Ok(())
        })
    }
}
