//! Words, types and values of `*.test` files. Python's reader checks the format; this one reads what passes it.

/// A word of a line.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Word {
    Bare(String),
    Quoted(Vec<u8>),
    List(Vec<Word>),
}

impl Word {
    pub(crate) fn bare(&self) -> &str {
        match self {
            Self::Bare(word) => word,
            other => panic!("{other:?}: a bare word is wanted"),
        }
    }
}

/// The words of a line.
pub(crate) fn words(line: &str) -> Vec<Word> {
    let mut stack: Vec<Vec<Word>> = vec![Vec::new()];
    let mut rest = line;
    while let Some(first) = rest.chars().next() {
        match first {
            ' ' => rest = &rest[1..],
            '[' => {
                stack.push(Vec::new());
                rest = &rest[1..];
            }
            ']' => {
                let list = stack.pop().unwrap();
                stack.last_mut().unwrap().push(Word::List(list));
                rest = &rest[1..];
            }
            '"' => {
                let (word, after) = quoted(&rest[1..]);
                stack.last_mut().unwrap().push(Word::Quoted(word));
                rest = after;
            }
            _ => {
                let end = rest.find([' ', '[', ']', '"']).unwrap_or(rest.len());
                stack.last_mut().unwrap().push(Word::Bare(rest[..end].to_owned()));
                rest = &rest[end..];
            }
        }
    }
    stack.pop().unwrap()
}

fn quoted(text: &str) -> (Vec<u8>, &str) {
    let mut found = Vec::new();
    let mut rest = text;
    loop {
        let c = rest.chars().next().expect("a quote is not closed");
        let after = &rest[c.len_utf8()..];
        if c == '"' {
            return (found, after);
        }
        if c != '\\' {
            found.extend_from_slice(c.to_string().as_bytes());
            rest = after;
            continue;
        }
        let sign = after.chars().next().unwrap();
        rest = &after[1..];
        match sign {
            '\\' | '"' => found.push(u8::try_from(sign).unwrap()),
            'n' => found.push(b'\n'),
            't' => found.push(b'\t'),
            '0' => found.push(0),
            'x' => {
                found.push(u8::from_str_radix(&rest[..2], 16).unwrap());
                rest = &rest[2..];
            }
            'u' => {
                let end = rest.find('}').unwrap();
                let point = char::from_u32(u32::from_str_radix(&rest[1..end], 16).unwrap()).unwrap();
                found.extend_from_slice(point.to_string().as_bytes());
                rest = &rest[end + 1..];
            }
            other => panic!("\\{other}: not an escape"),
        }
    }
}

/// What one value is: the word before the colon, and what stands behind it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Kind {
    pub(crate) base: String,
    pub(crate) detail: String,
    pub(crate) is_swapped: bool,
}

impl Kind {
    pub(crate) fn new(word: &str) -> Self {
        let is_swapped = word.starts_with('>');
        let (base, detail) =
            word.trim_start_matches('>').split_once(':').unwrap_or((word.trim_start_matches('>'), ""));
        Self { base: base.to_owned(), detail: detail.to_owned(), is_swapped }
    }
}

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Cell {
    Null,
    Bool(bool),
    Int(i128),
    Float(f64),
    Complex(f64, f64),
    Bytes(Vec<u8>),
    /// How many units since 1970; none is the least one.
    Time(i64),
    List(Vec<Cell>),
}

pub(crate) fn cell(word: &Word, kind: &Kind) -> Cell {
    let word = match word {
        Word::Bare(word) => word.as_str(),
        Word::Quoted(bytes) => return Cell::Bytes(bytes.clone()),
        Word::List(all) => return Cell::List(all.iter().map(|one| cell(one, kind)).collect()),
    };
    match (word, kind.base.as_str()) {
        ("null", _) => Cell::Null,
        (_, "bool") => Cell::Bool(word == "true"),
        ("nat", _) => Cell::Time(i64::MIN),
        (_, "time") => Cell::Time(time(word, &kind.detail)),
        (_, "span") => Cell::Time(word.parse().unwrap()),
        (_, "f2" | "f4" | "f8" | "float" | "time64") => Cell::Float(float(word)),
        (_, "c8" | "c16") => {
            let (real, imag) = word.split_once(',').unwrap();
            Cell::Complex(float(real), float(imag))
        }
        _ => Cell::Int(word.parse().unwrap_or_else(|_| panic!("{word:?} of {kind:?}"))),
    }
}

fn float(word: &str) -> f64 {
    word.parse().unwrap()
}

/// Units of one length, and how many of them a second has, or seconds one of them.
const UNITS: [(&str, i128, i128); 8] = [
    ("W", 604_800, 1),
    ("D", 86_400, 1),
    ("h", 3_600, 1),
    ("m", 60, 1),
    ("s", 1, 1),
    ("ms", 1, 1_000),
    ("us", 1, 1_000_000),
    ("ns", 1, 1_000_000_000),
];

/// A time of the files as a count of units: days are counted one year after the other.
pub(crate) fn time(word: &str, unit: &str) -> i64 {
    let (date, clock) = word.split_once('T').unwrap_or((word, ""));
    let parts: Vec<i128> = date.split('-').map(|part| part.parse().unwrap()).collect();
    let [year, month, day] = [parts[0], *parts.get(1).unwrap_or(&1), *parts.get(2).unwrap_or(&1)];
    let leap = |year: i128| year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let of_year = |year: i128| if leap(year) { 366 } else { 365 };
    let mut days: i128 =
        if year >= 1970 { (1970..year).map(of_year).sum() } else { -(year..1970).map(of_year).sum::<i128>() };
    let months = [31, if leap(year) { 29 } else { 28 }, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    days += months.iter().take(usize::try_from(month - 1).unwrap()).sum::<i128>() + day - 1;
    let mut clock = clock.split(':').chain(std::iter::repeat(""));
    let mut next = || clock.next().filter(|part| !part.is_empty()).unwrap_or("0").to_owned();
    let (hour, minute, second) = (next(), next(), next());
    let (second, fraction) = second.split_once('.').unwrap_or((&second, "0"));
    let whole = |text: &str| text.parse::<i128>().unwrap();
    let seconds = days * 86_400 + whole(&hour) * 3_600 + whole(&minute) * 60 + whole(second);
    let nanos = seconds * 1_000_000_000 + whole(&format!("{fraction:0<9}"));
    let (_, seconds, per) = UNITS.iter().find(|(name, ..)| *name == unit).unwrap();
    i64::try_from((nanos * per).div_euclid(seconds * 1_000_000_000)).unwrap()
}
