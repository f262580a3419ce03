//! Programs against the same tree computed node by node over all items.

use coquina_kernels::elementwise::{cast, kernel};
use coquina_kernels::items::{Aligned, bytes_of, items};
use coquina_kernels::{Type, best_level, levels};

use super::{Interval, Node, Operand, Program, Spread, SpreadAxis, Tree, Workspace};

fn call(name: &str, args: &[usize]) -> Node {
    Node::Call(name.into(), args.to_vec())
}

fn constant(value: f64) -> Node {
    Node::Constant(Type::F64, bytes_of(&[value]).to_vec())
}

/// `sqrt((a + 2) * (a + 2)) < b` and a cast of it, with something that nobody needs.
fn sample() -> Vec<Node> {
    vec![
        Node::Load(0, Type::F64),
        constant(2.0),
        call("add", &[0, 1]),
        call("add", &[0, 1]),
        call("multiply", &[2, 3]),
        call("sqrt", &[4]),
        Node::Load(1, Type::F32),
        Node::Cast(6, Type::F64),
        call("negative", &[0]),
        call("less", &[5, 7]),
        Node::Cast(9, Type::I16),
    ]
}

fn naive(nodes: &[Node], operands: &[Vec<u8>], len: usize) -> Vec<u8> {
    let tree = Tree::new(nodes.to_vec()).unwrap();
    let mut values: Vec<Aligned> = Vec::new();
    for (number, node) in nodes.iter().enumerate() {
        let width = tree.types[number].bytes();
        let mut out = Aligned::new();
        let bytes = out.room(len * width);
        match node {
            Node::Load(operand, _) => bytes.copy_from_slice(&operands[*operand]),
            Node::Constant(_, item) => bytes.chunks_mut(width).for_each(|out| out.copy_from_slice(item)),
            Node::Cast(arg, to) => {
                let from = tree.types[*arg];
                (cast(from, *to).run)(best_level(), &[&values[*arg].all()[..len * from.bytes()]], bytes);
            }
            Node::Call(name, args) => {
                let types: Vec<Type> = args.iter().map(|&arg| tree.types[arg]).collect();
                let args: Vec<&[u8]> = args
                    .iter()
                    .zip(&types)
                    .map(|(&arg, ty)| &values[arg].all()[..len * ty.bytes()])
                    .collect();
                (kernel(name, &types).unwrap().run)(best_level(), &args, bytes);
            }
        }
        values.push(out);
    }
    values.pop().unwrap().all()[..len * tree.output().bytes()].to_vec()
}

fn numbers(len: usize) -> (Vec<f64>, Vec<f32>) {
    let step = |n: usize| f64::from(u32::try_from(n * 7919 % 10007).unwrap());
    let a = (0..len).map(|n| step(n) / 100.0 - 50.0).collect();
    #[expect(clippy::cast_possible_truncation, reason = "any number will do")]
    let b = (0..len).map(|n| (step(n + 3) / 90.0) as f32).collect();
    (a, b)
}

#[test]
fn a_program_computes_what_its_tree_says() {
    let program = Program::new(&Tree::new(sample()).unwrap()).unwrap();
    // The sum is there once, the negative not at all.
    assert_eq!(program.steps(), 6);
    for len in [0, 1, 7, 511, 1024, 1025, 5000] {
        let (a, b) = numbers(len);
        let wanted = naive(&sample(), &[bytes_of(&a).to_vec(), bytes_of(&b).to_vec()], len);
        let operands = [Operand::Items(bytes_of(&a)), Operand::Items(bytes_of(&b))];
        for &level in levels() {
            let mut space = Workspace::default();
            let mut out = vec![0xAA; len * 2 + 1];
            program.run_at(level, &operands, &mut out[..len * 2], &mut space);
            assert_eq!(out[..len * 2], wanted, "{len} {}", level.name());
            // A result may stand at any place.
            program.run_at(level, &operands, &mut out[1..], &mut space);
            assert_eq!(out[1..], wanted);
        }
    }
}

#[test]
fn operands_may_be_one_item_or_spread() {
    let nodes = vec![Node::Load(0, Type::F64), Node::Load(1, Type::F64), call("subtract", &[0, 1])];
    let program = Program::new(&Tree::new(nodes.clone()).unwrap()).unwrap();
    let (rows, columns) = (37, 100);
    let (a, _) = numbers(columns);
    let axes = [SpreadAxis { len: rows, step: 0 }, SpreadAxis { len: columns, step: 1 }];
    let operands = [Operand::Spread(Spread::new(bytes_of(&a), 8, &axes)), Operand::One(bytes_of(&[5.0]))];
    let mut out = vec![0; rows * columns * 8];
    program.run(&operands, &mut out, &mut Workspace::default());
    let wanted: Vec<f64> = (0..rows).flat_map(|_| a.iter().map(|x| x - 5.0)).collect();
    assert_eq!(out, bytes_of(&wanted));
}

#[test]
fn what_is_known_is_not_computed() {
    let nodes = vec![constant(2.0), constant(0.5), call("add", &[0, 1])];
    let program = Program::new(&Tree::new(nodes).unwrap()).unwrap();
    assert_eq!((program.steps(), program.operands().len()), (0, 0));
    let mut out = Aligned::new();
    let out = out.room(24);
    program.run(&[], out, &mut Workspace::default());
    assert_eq!(items::<f64>(out), [2.5; 3]);
}

#[test]
fn a_wrong_tree_is_refused() {
    let unknown = Tree::new(vec![Node::Load(0, Type::F64), call("no such function", &[0])]).unwrap_err();
    assert!(unknown.to_string().contains("no such function of float64"), "{unknown}");
    assert!(Tree::new(vec![]).is_err());
    assert!(Tree::new(vec![call("sqrt", &[0])]).is_err());
    assert!(Tree::new(vec![Node::Constant(Type::F64, vec![0; 4])]).is_err());
}

fn interval(min: f64, max: f64, has_nan: bool) -> Option<Interval> {
    Interval::new(bytes_of(&[min]), bytes_of(&[max]), has_nan, Type::F64)
}

#[test]
fn bounds_decide_a_comparison_only_where_no_item_could_differ() {
    let nodes = vec![Node::Load(0, Type::F64), constant(3.0), call("less", &[0, 1])];
    let program = Program::new(&Tree::new(nodes).unwrap()).unwrap();
    let decided = |of: Option<Interval>| program.interval(&[of]).map(|found| found.min[0]);
    assert_eq!(decided(interval(1.0, 2.9, false)), Some(1));
    assert_eq!(decided(interval(1.0, 2.9, true)), None);
    assert_eq!(decided(interval(3.0, 9.0, false)), Some(0));
    assert_eq!(decided(interval(3.0, 9.0, true)), Some(0));
    assert_eq!(decided(interval(1.0, 3.0, false)), None);
    assert_eq!(decided(None), None);
}

/// Signed and unsigned numbers were once compared in the order of the other's kernel.
#[test]
fn bounds_of_signed_and_unsigned_numbers_compare_as_numbers() {
    let ends = |min: i64, max: i64| Interval::new(bytes_of(&[min]), bytes_of(&[max]), false, Type::I64);
    let loads = [Node::Load(0, Type::I64), Node::Load(1, Type::U64)];
    for (name, wanted) in [("equal", None), ("less", None), ("greater", None)] {
        let nodes = [loads.to_vec(), vec![call(name, &[0, 1])]].concat();
        let program = Program::new(&Tree::new(nodes).unwrap()).unwrap();
        let found = program.interval(&[ends(-5, 7), ends(0, 9)]).map(|found| found.min[0]);
        assert_eq!(found, wanted, "{name}");
        assert_eq!(
            program.interval(&[ends(-5, -1), ends(0, 9)]).map(|i| i.min[0]),
            Some(u8::from(name == "less"))
        );
    }
}

/// Every item of every interval gives what the interval said.
#[test]
fn intervals_hold_for_their_items() {
    let compare = ["less", "less_equal", "greater", "greater_equal", "equal", "not_equal"];
    let values = [-2.0, -1.0, 0.0, 1.0, 2.0];
    let mut decided = 0;
    for name in compare {
        for (arithmetic, limit) in ["add", "subtract", "multiply"].into_iter().zip([1.0, 0.0, -1.0]) {
            let nodes = vec![
                Node::Load(0, Type::F64),
                Node::Load(1, Type::F64),
                call(arithmetic, &[0, 1]),
                constant(limit),
                call(name, &[2, 3]),
            ];
            let program = Program::new(&Tree::new(nodes.clone()).unwrap()).unwrap();
            let pairs =
                || values.iter().flat_map(|&a| values.iter().map(move |&b| (a, b))).filter(|(a, b)| a <= b);
            for ((a0, a1), (b0, b1)) in pairs().flat_map(|a| pairs().map(move |b| (a, b))) {
                let found = program.interval(&[interval(a0, a1, false), interval(b0, b1, false)]);
                let Some(found) = found.filter(|found| found.min == found.max) else { continue };
                decided += 1;
                for (a, b) in [(a0, b0), (a0, b1), (a1, b0), (a1, b1)] {
                    let operands = [bytes_of(&[a]).to_vec(), bytes_of(&[b]).to_vec()];
                    assert_eq!(naive(&nodes, &operands, 1)[..], found.min[..], "{name} {arithmetic} {a} {b}");
                }
            }
        }
    }
    assert!(decided > 500, "{decided}");
}

/// What a value is within, or nothing: exact, wider than needed, or with NaNs.
fn random_interval(random: &mut impl FnMut(u64) -> u64, values: &[f64]) -> Option<Interval> {
    let (a, b) = (values[pick(random, 6)], values[pick(random, 6)]);
    (random(4) > 0).then(|| interval(a.min(b), a.max(b), random(3) == 0))?
}

fn pick(random: &mut impl FnMut(u64) -> u64, end: u64) -> usize {
    usize::try_from(random(end)).unwrap()
}

/// Comparisons of four operands, and logic over these.
fn random_condition(random: &mut impl FnMut(u64) -> u64) -> Vec<Node> {
    let mut nodes: Vec<Node> = (0..4).map(|operand| Node::Load(operand, Type::F64)).collect();
    nodes.extend([-1.0, -0.0, 0.0, 2.0, f64::NAN].map(constant));
    nodes.push(call(["add", "multiply", "minimum"][pick(random, 3)], &[pick(random, 4), pick(random, 9)]));
    let compare = ["less", "less_equal", "greater", "greater_equal", "equal", "not_equal"];
    let first = nodes.len();
    for _ in 0..6 {
        let args = [pick(random, 10), pick(random, 10)];
        nodes.push(match random(8) {
            0 => call("isnan", &args[..1]),
            1 => call("signbit", &args[..1]),
            _ => call(compare[pick(random, 6)], &args),
        });
    }
    let logic = ["logical_and", "bitwise_or", "logical_or", "bitwise_and", "logical_xor", "equal"];
    for _ in 0..6 {
        let args = [0; 2].map(|_| first + pick(random, (nodes.len() - first) as u64));
        nodes.push(match random(8) {
            0 => call("logical_not", &args[..1]),
            _ => call(logic[pick(random, 6)], &args),
        });
    }
    nodes
}

/// An operand that is not needed may be any item within its bounds; and what is told is so for all items.
#[test]
fn a_condition_does_not_depend_on_operands_that_it_does_not_need() {
    let mut random = crate::base::testing::random(5);
    let values = [-2.0, -1.0, -0.0, 0.0, 1.0, 2.0];
    let (mut unneeded, mut decided) = (0, 0);
    for _ in 0..4000 {
        let nodes = random_condition(&mut random);
        let program = Program::new(&Tree::new(nodes.clone()).unwrap()).unwrap();
        let intervals: Vec<_> = (0..4).map(|_| random_interval(&mut random, &values)).collect();
        let (told, needed) = program.interval_and_needs(&intervals);
        assert_eq!(told, program.interval(&intervals));
        let told = told.filter(|told| told.min == told.max);
        decided += u32::from(told.is_some());
        for _ in 0..8 {
            let mut item = |interval: &Option<Interval>| match interval {
                None => [-9.0, f64::NAN, f64::INFINITY, 0.0, -0.0][pick(&mut random, 5)],
                Some(found) if found.has_nan && random(3) == 0 => f64::NAN,
                Some(found) => {
                    let (min, max) = (items::<f64>(&found.min)[0], items::<f64>(&found.max)[0]);
                    [min, max, f64::midpoint(min, max), (-0.0_f64).clamp(min, max)][pick(&mut random, 4)]
                }
            };
            let found: Vec<f64> = intervals.iter().map(&mut item).collect();
            let operands: Vec<Vec<u8>> = found.iter().map(|item| bytes_of(&[*item]).to_vec()).collect();
            let wanted = naive(&nodes, &operands, 1);
            if let Some(told) = &told {
                assert_eq!(wanted[..], told.min[..], "{nodes:?} {found:?}");
            }
            let mut instead = operands.clone();
            for number in 0..program.operands().len() {
                if program.operands()[number].is_some() && !needed[number] {
                    let min = intervals[number].map_or(vec![0; 8], |interval| interval.min.to_vec());
                    unneeded += u32::from(told.is_none());
                    instead[number] = min;
                }
            }
            let instead: Vec<_> = instead.iter().map(|item| Operand::One(item)).collect();
            let mut out = [9];
            program.run(&instead[..program.operands().len()], &mut out, &mut Workspace::default());
            assert_eq!(out[..], wanted[..], "{nodes:?} {found:?} {needed:?}");
        }
    }
    assert!(unneeded > 2000 && decided > 300, "{unneeded} {decided}");
}
