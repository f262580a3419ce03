//! The typed tree: what is to be computed of what.
//!
//! In: nodes, each after what it is computed of. Invariant: a tree that exists has the type of every node, and a
//! kernel for every call.

use coquina_kernels::Type;
use coquina_kernels::elementwise::{Kernel, cast, kernel};

use crate::base::error::{Error, Result};

/// A node of a tree; nodes are named by their number.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Node {
    /// The items of an operand.
    Load(usize, Type),
    /// One item, as bytes.
    Constant(Type, Vec<u8>),
    /// A function, by NumPy's name, of items of exactly the types that it takes.
    Call(String, Vec<usize>),
    /// The items as another type.
    Cast(usize, Type),
}

/// Nodes, the last of which is the result.
#[derive(Clone, Debug)]
pub struct Tree {
    pub(super) nodes: Vec<Node>,
    pub(super) types: Vec<Type>,
}

impl Tree {
    /// A tree of these nodes.
    ///
    /// # Errors
    /// `Invalid` for no nodes, a node that is used before it stands there, or a constant of another size;
    /// `Unsupported` for a function that has no kernel for such types.
    pub fn new(nodes: Vec<Node>) -> Result<Self> {
        let mut types: Vec<Type> = Vec::with_capacity(nodes.len());
        for (number, node) in nodes.iter().enumerate() {
            types.push(type_of(node, &types).map_err(|e| e.at(format!("node {number}")))?);
        }
        if nodes.is_empty() {
            return Err(Error::invalid("an expression of no nodes"));
        }
        Ok(Self { nodes, types })
    }

    /// The nodes, each behind what it is computed of, with the types of their items.
    pub fn nodes(&self) -> impl ExactSizeIterator<Item = (&Node, Type)> {
        self.nodes.iter().zip(self.types.iter().copied())
    }

    /// The tree of one of the nodes.
    ///
    /// # Errors
    /// `Invalid` for one that there is not.
    pub fn part(&self, node: usize) -> Result<Self> {
        let missing = || Error::invalid(format!("node {node} of {}", self.nodes.len()));
        Self::new(self.nodes.get(..=node).ok_or_else(missing)?.to_vec())
    }

    /// The type of the result.
    pub fn output(&self) -> Type {
        self.types.last().copied().unwrap_or(Type::Bool)
    }

    /// How many operands are loaded: one more than the highest number.
    pub fn operands(&self) -> usize {
        let operand = |node: &Node| if let Node::Load(operand, _) = node { operand + 1 } else { 0 };
        self.nodes.iter().map(operand).max().unwrap_or(0)
    }
}

fn type_of(node: &Node, types: &[Type]) -> Result<Type> {
    let arg = |number: usize| {
        types.get(number).copied().ok_or_else(|| Error::invalid(format!("node {number} is not there yet")))
    };
    match node {
        Node::Load(_, ty) => Ok(*ty),
        Node::Constant(ty, bytes) if bytes.len() == ty.bytes() => Ok(*ty),
        Node::Constant(ty, bytes) => Err(Error::invalid(format!(
            "a constant of {} bytes: {} has {}",
            bytes.len(),
            ty.name(),
            ty.bytes()
        ))),
        Node::Cast(number, to) => arg(*number).map(|_| *to),
        Node::Call(name, args) => {
            let types = args.iter().map(|&number| arg(number)).collect::<Result<Vec<_>>>()?;
            kernel_of(name, &types).map(|kernel| kernel.output)
        }
    }
}

/// The kernel of a function.
fn kernel_of(name: &str, types: &[Type]) -> Result<Kernel> {
    kernel(name, types).ok_or_else(|| {
        let names: Vec<_> = types.iter().map(|ty| ty.name()).collect();
        Error::unsupported(format!("{name} of {}: there is no kernel for it", names.join(", ")))
    })
}

impl Tree {
    /// The kernel that computes a node, and of what; none for loads and constants.
    pub(super) fn kernel(&self, number: usize) -> Result<Option<(Kernel, Vec<usize>)>> {
        match &self.nodes[number] {
            Node::Load(..) | Node::Constant(..) => Ok(None),
            Node::Cast(arg, to) => Ok(Some((cast(self.types[*arg], *to), vec![*arg]))),
            Node::Call(name, args) => {
                let types: Vec<Type> = args.iter().map(|&arg| self.types[arg]).collect();
                Ok(Some((kernel_of(name, &types)?, args.clone())))
            }
        }
    }
}
