//! What indexes know the values of, found again in the programs of conditions.
//!
//! In: columns and expressions that indexes were made of, and sources of conditions, written in whichever way. Out:
//! what a condition asks of indexes, and what each side of its `and` asks for itself.
//! Invariant: a part of a program is taken for what an index knows only if it computes the same of the same places.

use std::collections::HashMap;
use std::sync::Arc;

use coquina_kernels::Type;

use super::places::{Place, Places};
use super::read::{Node, Operand, trees};
use super::tree::Tree;
use crate::array::BoxSource;
use crate::base::error::Result;
use crate::compute::Bound;
use crate::expr;
use crate::query::condition::singles;
use crate::query::predicates::{Among, FixedText, Lookup, Strings, TextTest};
use crate::query::{ColumnValues, QueryColumn};

/// Programs that stand within each other deeper than that are not looked into.
const DEPTH_MAX: usize = 64;

/// What a place has of an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    Values,
    Codes,
    Texts,
    Mask,
}

/// All that indexes know the values of.
#[derive(Default)]
pub struct Operands {
    operands: Vec<Operand>,
    places: Places,
    roles: HashMap<usize, (Role, usize)>,
    /// Places are told apart by what is alive.
    held: Vec<Arc<dyn BoxSource>>,
}

/// What a condition asks of indexes.
pub struct Terms {
    /// All that it asks; nothing for what they do not answer.
    pub tree: Option<Arc<Tree>>,
    /// What it is the `and` of.
    pub sides: Vec<Side>,
}

/// A side of the `and` that a condition is.
pub struct Side {
    /// Where it holds.
    pub source: Arc<dyn BoxSource>,
    /// What it asks; nothing for what indexes do not answer.
    pub tree: Option<Arc<Tree>>,
}

impl Terms {
    /// The sides that have to be computed of rows that were looked up, by a part of the tree.
    pub fn rest<'t>(
        &'t self,
        looked_up: &'t Arc<Tree>,
        operands: &'t [Operand],
    ) -> impl Iterator<Item = &'t Arc<dyn BoxSource>> {
        let parts = match &**looked_up {
            Tree::Both { parts, .. } => &parts[..],
            _ => std::slice::from_ref(looked_up),
        };
        let is_answered = move |tree: &Arc<Tree>| {
            let is_whole_term = match &**tree {
                Tree::Known(value) => *value,
                Tree::Term(operand, wanted) => {
                    let is_asked = |part: &Arc<Tree>| matches!(&**part, Tree::Term(one, _) if one == operand);
                    operands[*operand].is_whole(wanted) && parts.iter().any(is_asked)
                }
                Tree::Both { .. } | Tree::Either(_) => false,
            };
            is_whole_term || parts.iter().any(|part| Arc::ptr_eq(part, tree))
        };
        let is_left = move |side: &&Side| !side.tree.as_ref().is_some_and(is_answered);
        self.sides.iter().filter(is_left).map(|side| &side.source)
    }
}

impl Operands {
    /// They, by number.
    pub fn all(&self) -> &[Operand] {
        &self.operands
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.roles.is_empty()
    }

    /// Adds what an index of a column was made of; of two indexes of one column the first is asked.
    ///
    /// # Errors
    /// What goes wrong with the values of the column.
    pub fn add_column(&mut self, operand: Operand, column: &QueryColumn) -> Result<()> {
        let number = self.push(operand);
        match &column.values {
            ColumnValues::Texts { offsets, bytes } => {
                self.held.extend([offsets, bytes].map(Arc::clone));
                self.know(Place::of_texts([offsets, bytes]), Role::Texts, number);
            }
            ColumnValues::FixedBytes(source) | ColumnValues::FixedPoints(source) => {
                self.know_source(source, None, Role::Texts, number);
            }
            ColumnValues::Categories { ty, codes, .. } => {
                self.know_source(codes, Some(*ty), Role::Codes, number);
            }
            ColumnValues::Numbers { ty, source } | ColumnValues::Enumeration { ty, source, .. } => {
                self.know_source(source, Some(*ty), Role::Values, number);
            }
            ColumnValues::Times { source, .. } => {
                self.know_source(source, Some(Type::I64), Role::Values, number);
            }
            ColumnValues::Halves(_) | ColumnValues::Seconds(_) => {
                let source = singles(column)?;
                self.know_source(&source, Some(Type::F32), Role::Values, number);
            }
        }
        if let Some(mask) = &column.mask {
            self.know_source(mask, Some(Type::Bool), Role::Mask, number);
        }
        Ok(())
    }

    /// Adds what an index of an expression was made of.
    pub fn add_expression(&mut self, operand: Operand, values: &Arc<dyn BoxSource>, ty: Type) {
        let number = self.push(operand);
        self.know_source(values, Some(ty), Role::Values, number);
    }

    /// Another program that gives the values of the operand that was added last.
    pub fn add_values(&mut self, values: &Arc<dyn BoxSource>) {
        self.add_program(values, Role::Values);
    }

    /// Another program that says where the operand that was added last has no value.
    pub fn add_mask(&mut self, mask: &Arc<dyn BoxSource>) {
        self.add_program(mask, Role::Mask);
    }

    fn add_program(&mut self, source: &Arc<dyn BoxSource>, role: Role) {
        if let (Some(_), Some(number)) = (program_of(source), self.operands.len().checked_sub(1)) {
            self.know_source(source, None, role, number);
        }
    }

    fn push(&mut self, operand: Operand) -> usize {
        self.operands.push(operand);
        self.operands.len() - 1
    }

    fn know_source(&mut self, source: &Arc<dyn BoxSource>, ty: Option<Type>, role: Role, operand: usize) {
        self.held.push(Arc::clone(source));
        match program_of(source) {
            Some(bound) => {
                let mut numbers = Vec::new();
                for (node, _) in bound.program().tree().nodes() {
                    let place = place_of(node, &numbers, bound);
                    numbers.push(place.map(|place| self.places.insert(place)));
                }
                if let Some(Some(number)) = numbers.pop() {
                    self.roles.entry(number).or_insert((role, operand));
                }
            }
            None => self.know(Place::of(source, ty), role, operand),
        }
    }

    fn know(&mut self, place: Place, role: Role, operand: usize) {
        let number = self.places.insert(place);
        self.roles.entry(number).or_insert((role, operand));
    }

    fn role(&self, number: Option<usize>) -> Option<(Role, usize)> {
        self.roles.get(&number?).copied()
    }

    fn role_of(&self, place: &Place) -> Option<(Role, usize)> {
        self.role(self.places.get(place))
    }

    /// What a condition, a source of truth bytes, asks.
    ///
    /// # Errors
    /// What goes wrong with its parts.
    pub fn terms(&self, condition: &Arc<dyn BoxSource>) -> Result<Terms> {
        let mut reading = Reading { known: self, nodes: Vec::new(), origins: Vec::new() };
        let root = reading.source(condition, Type::Bool, 0).node;
        let found = trees(&reading.nodes, &self.operands)?;
        let made = |at: usize| {
            let source = match reading.origins[at] {
                _ if at == root => Arc::clone(condition),
                Origin::Source(source) => Arc::clone(source),
                Origin::Program(bound, node) => Arc::new(bound.part(node)?),
            };
            Ok(Side { source, tree: found[at].clone() })
        };
        let sides = reading.sides(root).into_iter().map(made).collect::<Result<_>>()?;
        Ok(Terms { tree: found[root].clone(), sides })
    }
}

/// A source that is a program.
fn program_of(source: &Arc<dyn BoxSource>) -> Option<&Bound> {
    source.as_any()?.downcast_ref()
}

/// What a node of a program computes, of nodes with these numbers; nothing where one has none.
fn place_of(node: &expr::Node, numbers: &[Option<usize>], bound: &Bound) -> Option<Place> {
    Some(match node {
        expr::Node::Load(input, ty) => Place::of(&bound.inputs()[*input].source, Some(*ty)),
        expr::Node::Constant(ty, bytes) => Place::Constant(*ty, bytes.clone()),
        expr::Node::Cast(arg, ty) => Place::Cast(numbers[*arg]?, *ty),
        expr::Node::Call(name, args) => {
            let args = args.iter().map(|&arg| numbers[arg]).collect::<Option<_>>()?;
            Place::Call(name.clone(), args)
        }
    })
}

/// Where a node was read.
#[derive(Clone, Copy)]
enum Origin<'a> {
    Source(&'a Arc<dyn BoxSource>),
    Program(&'a Bound, usize),
}

/// A node that was read, and the number of the place that it is.
#[derive(Clone, Copy)]
struct Read {
    node: usize,
    place: Option<usize>,
}

/// The nodes of a condition, in one list.
struct Reading<'a> {
    known: &'a Operands,
    nodes: Vec<Node>,
    origins: Vec<Origin<'a>>,
}

impl<'a> Reading<'a> {
    fn push(&mut self, node: Node, origin: Origin<'a>) -> usize {
        self.nodes.push(node);
        self.origins.push(origin);
        self.nodes.len() - 1
    }

    /// Reads a source, which is taken as items of a type.
    fn source(&mut self, source: &'a Arc<dyn BoxSource>, ty: Type, depth: usize) -> Read {
        if let Some(bound) = program_of(source)
            && depth < DEPTH_MAX
        {
            return self.program(bound, depth + 1);
        }
        let place = self.known.places.get(&Place::of(source, Some(ty)));
        let known = self.known.role(place).and_then(|(role, operand)| of_role(role, operand, ty));
        let made = known.or_else(|| self.asked(source, ty)).unwrap_or(Node::Other(ty == Type::Bool));
        Read { node: self.push(made, Origin::Source(source)), place }
    }

    fn program(&mut self, bound: &'a Bound, depth: usize) -> Read {
        let mut read: Vec<Read> = Vec::new();
        let mut numbers: Vec<Option<usize>> = Vec::new();
        for (at, (node, ty)) in bound.program().tree().nodes().enumerate() {
            let place = place_of(node, &numbers, bound).and_then(|place| self.known.places.get(&place));
            let role = self.known.role(place).and_then(|(role, operand)| of_role(role, operand, ty));
            let one = match (role, node) {
                (None, expr::Node::Load(input, ty)) => {
                    self.source(&bound.inputs()[*input].source, *ty, depth)
                }
                (role, _) => {
                    let made = role.unwrap_or_else(|| made(node, ty, &read));
                    Read { node: self.push(made, Origin::Program(bound, at)), place }
                }
            };
            numbers.push(one.place);
            read.push(one);
        }
        // A tree has at least one node.
        read.pop().unwrap_or(Read { node: 0, place: None })
    }

    /// What a source asks of a column, other than by a program.
    fn asked(&self, source: &Arc<dyn BoxSource>, ty: Type) -> Option<Node> {
        let any = source.as_any()?;
        let is = |place: &Place, role: Role| {
            self.known.role_of(place).filter(|(known, _)| *known == role).map(|(_, operand)| operand)
        };
        if let Some(lookup) = any.downcast_ref::<Lookup>() {
            let (codes, own) = lookup.codes();
            let operand = is(&Place::of(codes, Some(own)), Role::Codes)?;
            let (table, other) = lookup.table();
            let (table, other) = (table.to_vec(), other.to_vec());
            return Some(Node::Lookup { operand, ty, table, other });
        }
        if let Some(among) = any.downcast_ref::<Among>() {
            let (numbers, own) = among.numbers();
            let operand = match program_of(numbers) {
                Some(bound) => self.operand_of(bound)?,
                None => is(&Place::of(numbers, Some(own)), Role::Values)?,
            };
            return Some(Node::Among(operand, own, among.values().to_vec()));
        }
        if let Some(texts) = any.downcast_ref::<FixedText>() {
            let operand = is(&Place::of(texts.texts(), None), Role::Texts)?;
            return tested(operand, &texts.asked()?);
        }
        let texts = any.downcast_ref::<Strings>()?;
        tested(is(&Place::of_texts(texts.texts()), Role::Texts)?, texts.asked())
    }

    /// The operand that a program gives the values of.
    fn operand_of(&self, bound: &Bound) -> Option<usize> {
        let mut numbers = Vec::new();
        for (node, _) in bound.program().tree().nodes() {
            numbers.push(place_of(node, &numbers, bound).and_then(|place| self.known.places.get(&place)));
        }
        let found = self.known.role(numbers.pop()?)?;
        (found.0 == Role::Values).then_some(found.1)
    }

    /// The nodes that a node is the `and` of.
    fn sides(&self, root: usize) -> Vec<usize> {
        let mut sides = Vec::new();
        let mut waiting = vec![root];
        while let Some(at) = waiting.pop() {
            match &self.nodes[at] {
                Node::Call(name, args, true) if matches!(&name[..], "logical_and" | "bitwise_and") => {
                    waiting.extend(args.iter().rev());
                }
                _ => sides.push(at),
            }
        }
        sides
    }
}

/// What indexes know of a place, taken as items of a type.
fn of_role(role: Role, operand: usize, ty: Type) -> Option<Node> {
    match role {
        Role::Values => Some(Node::Values(operand, ty)),
        Role::Mask => (ty == Type::Bool).then_some(Node::Mask(operand)),
        Role::Codes | Role::Texts => None,
    }
}

/// A node of a program whose items have a type, as the reader of trees takes it; loads are none.
fn made(node: &expr::Node, ty: Type, read: &[Read]) -> Node {
    match node {
        expr::Node::Load(..) => Node::Other(ty == Type::Bool),
        expr::Node::Constant(ty, bytes) => Node::Constant(*ty, bytes.clone()),
        expr::Node::Cast(arg, ty) => Node::Cast(read[*arg].node, *ty),
        expr::Node::Call(name, args) => {
            let args = args.iter().map(|&arg| read[arg].node).collect();
            Node::Call(name.clone(), args, ty == Type::Bool)
        }
    }
}

/// What a test of texts asks; nothing for one that keys do not answer.
fn tested(operand: usize, test: &TextTest) -> Option<Node> {
    Some(match test {
        TextTest::Compare(comparison, text) => {
            Node::Matches(operand, comparison.name().to_owned(), text.clone())
        }
        TextTest::Starts(text) => Node::Matches(operand, "startswith".to_owned(), text.clone()),
        TextTest::Among(texts) => Node::AmongTexts(operand, texts.iter().map(<[u8]>::to_vec).collect()),
        TextTest::Ends(_) | TextTest::Contains(_) => return None,
    })
}
