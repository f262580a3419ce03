//! From a tree to a program: equal nodes become one, constants are folded, registers are shared.
//!
//! Invariant: no step writes to a register that it reads, so kernels never see memory twice.

use std::collections::HashMap;

use coquina_kernels::items::Aligned;
use coquina_kernels::{Type, best_level};

use super::program::{Place, Program, Step};
use super::rule::Rule;
use super::tree::{Node, Tree};
use crate::base::error::Result;

/// A register holds about so many bytes of the widest type: a few of them fit the innermost cache.
const REGISTER_BYTES: usize = 8 << 10;
/// The least items of a batch; the widest type has 16 bytes.
const BATCH_ITEMS_MIN: usize = 512;

impl Program {
    /// Compiles a tree.
    ///
    /// # Errors
    /// As [`Tree::new`].
    pub fn new(tree: &Tree) -> Result<Self> {
        let tree = simplified(tree)?;
        let mut compiler = Compiler::new(&tree);
        for number in 0..tree.nodes.len() {
            compiler.visit(number)?;
        }
        Ok(compiler.finish())
    }
}

/// The same tree without nodes that are there twice, that no one uses, or that are known already.
fn simplified(tree: &Tree) -> Result<Tree> {
    let mut nodes: Vec<Node> = Vec::new();
    let mut types = Vec::new();
    let mut known: HashMap<Node, usize> = HashMap::new();
    let mut renamed = Vec::with_capacity(tree.nodes.len());
    for (number, node) in tree.nodes.iter().enumerate() {
        let mut node = match node {
            Node::Load(..) | Node::Constant(..) => node.clone(),
            Node::Cast(arg, to) => Node::Cast(renamed[*arg], *to),
            Node::Call(name, args) => {
                Node::Call(name.clone(), args.iter().map(|&arg| renamed[arg]).collect())
            }
        };
        if let Some((kernel, args)) = tree.kernel(number)?
            && let Some(items) = constants(&nodes, args.iter().map(|&arg| renamed[arg]))
        {
            node = Node::Constant(kernel.output, computed(&items, kernel.output, kernel.run));
        }
        let id = *known.entry(node.clone()).or_insert_with(|| {
            nodes.push(node);
            types.push(tree.types[number]);
            nodes.len() - 1
        });
        renamed.push(id);
    }
    let root = renamed.last().copied().unwrap_or(0);
    Ok(reachable(&Tree { nodes, types }, root))
}

/// The items of these nodes, if all are constants.
fn constants(nodes: &[Node], args: impl Iterator<Item = usize>) -> Option<Vec<Vec<u8>>> {
    let constant = |arg: usize| match &nodes[arg] {
        Node::Constant(_, bytes) => Some(bytes.clone()),
        _ => None,
    };
    args.map(constant).collect()
}

/// What a kernel makes of single items.
fn computed(items: &[Vec<u8>], output: Type, run: coquina_kernels::elementwise::Run) -> Vec<u8> {
    let mut rooms: Vec<Aligned> = items.iter().map(|_| Aligned::new()).collect();
    let mut args: Vec<&[u8]> = Vec::with_capacity(items.len());
    for (room, item) in rooms.iter_mut().zip(items) {
        let bytes = room.room(item.len());
        bytes.copy_from_slice(item);
        args.push(bytes);
    }
    let mut out = Aligned::new();
    let out = out.room(output.bytes());
    run(best_level(), &args, out);
    out.to_vec()
}

/// What the node `root` needs, with it at the end.
fn reachable(tree: &Tree, root: usize) -> Tree {
    let mut is_needed = vec![false; tree.nodes.len()];
    if let Some(needed) = is_needed.get_mut(root) {
        *needed = true;
    }
    for number in (0..=root).rev() {
        if is_needed[number] {
            args_of(&tree.nodes[number]).iter().for_each(|&arg| is_needed[arg] = true);
        }
    }
    let (mut nodes, mut types, mut renamed) = (Vec::new(), Vec::new(), vec![0; tree.nodes.len()]);
    for number in (0..=root).filter(|&number| is_needed[number]) {
        renamed[number] = nodes.len();
        nodes.push(match &tree.nodes[number] {
            Node::Cast(arg, to) => Node::Cast(renamed[*arg], *to),
            Node::Call(name, args) => {
                Node::Call(name.clone(), args.iter().map(|&arg| renamed[arg]).collect())
            }
            other => other.clone(),
        });
        types.push(tree.types[number]);
    }
    Tree { nodes, types }
}

fn args_of(node: &Node) -> &[usize] {
    match node {
        Node::Load(..) | Node::Constant(..) => &[],
        Node::Cast(arg, _) => std::slice::from_ref(arg),
        Node::Call(_, args) => args,
    }
}

struct Compiler<'t> {
    tree: &'t Tree,
    /// After which node the value of each is not needed any more.
    last_use: Vec<usize>,
    places: Vec<Place>,
    free: Vec<usize>,
    registers: usize,
    constants: Vec<Vec<u8>>,
    steps: Vec<Step>,
}

impl<'t> Compiler<'t> {
    fn new(tree: &'t Tree) -> Self {
        let mut last_use = vec![0; tree.nodes.len()];
        for (number, node) in tree.nodes.iter().enumerate() {
            args_of(node).iter().for_each(|&arg| last_use[arg] = number);
        }
        let (places, free, constants, steps) = Default::default();
        Self { tree, last_use, places, free, registers: 0, constants, steps }
    }

    fn visit(&mut self, number: usize) -> Result<()> {
        let place = match &self.tree.nodes[number] {
            Node::Load(operand, _) => Place::Operand(*operand),
            Node::Constant(_, bytes) => {
                self.constants.push(bytes.clone());
                Place::Constant(self.constants.len() - 1)
            }
            Node::Call(..) | Node::Cast(..) => self.step(number)?,
        };
        self.places.push(place);
        Ok(())
    }

    fn step(&mut self, number: usize) -> Result<Place> {
        let Some((kernel, args)) = self.tree.kernel(number)? else { return Ok(Place::Out) };
        let is_result = number + 1 == self.tree.nodes.len();
        let out = if is_result { Place::Out } else { Place::Register(self.take()) };
        let places = args.iter().map(|&arg| self.places[arg]).collect();
        self.steps.push(Step { run: kernel.run, args: places, out, item_bytes: kernel.output.bytes() });
        let mut done = args;
        done.sort_unstable();
        done.dedup();
        for arg in done {
            if let Place::Register(register) = self.places[arg]
                && self.last_use[arg] == number
            {
                self.free.push(register);
            }
        }
        Ok(out)
    }

    fn take(&mut self) -> usize {
        self.free.pop().unwrap_or_else(|| {
            self.registers += 1;
            self.registers - 1
        })
    }

    fn finish(self) -> Program {
        let tree = self.tree;
        let mut operands = vec![None; tree.operands()];
        for node in &tree.nodes {
            if let Node::Load(operand, ty) = node {
                operands[*operand] = Some(*ty);
            }
        }
        let widest = tree.types.iter().map(|ty| ty.bytes()).max().unwrap_or(1);
        Program {
            result: self.places.last().copied().unwrap_or(Place::Out),
            steps: self.steps,
            constants: self.constants,
            operands,
            registers: self.registers,
            batch_items: (REGISTER_BYTES / widest).max(BATCH_ITEMS_MIN),
            output: tree.output(),
            rules: Rule::of(tree),
            tree: tree.clone(),
        }
    }
}
