//! Errors of the engine as Python exceptions: a builtin where one fits, else a child of `CoquinaError`.

use coquina::{Error, ErrorKind};
use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyIndexError, PyKeyboardInterrupt, PyValueError};
use pyo3::prelude::*;

create_exception!(
    coquina,
    CoquinaError,
    PyException,
    "Base of the exceptions that only coquina raises.

>>> import coquina as cq
>>> try:
...     chunk = cq.decompress(b\"ab\")
... except cq.CoquinaError as error:
...     print(type(error).__name__)
TruncatedError
"
);
create_exception!(
    coquina,
    CorruptError,
    CoquinaError,
    "The bytes contradict their format, or are damaged.

>>> import coquina as cq
>>> try:
...     chunk = cq.decompress(b\"\\xff\" * 40)
... except cq.CoquinaError as error:
...     print(type(error).__name__)
CorruptError
"
);
create_exception!(
    coquina,
    TruncatedError,
    CorruptError,
    "The bytes end before what they announce.

>>> import coquina as cq
>>> try:
...     chunk = cq.decompress(cq.compress(bytes(range(99)))[:40])
... except cq.CorruptError as error:
...     print(type(error).__name__)
TruncatedError
"
);
create_exception!(
    coquina,
    UnsupportedError,
    CoquinaError,
    "Well formed, but this build lacks what it needs.

>>> import coquina as cq
>>> try:
...     cq.hdf5.File.in_memory().create_dataset('x', data=[1]).compact()
... except cq.CoquinaError as error:
...     print(type(error).__name__)
UnsupportedError
"
);
create_exception!(
    coquina,
    LimitError,
    CoquinaError,
    "More bytes than the format or a given limit allows.

>>> import coquina as cq
>>> try:
...     chunk = cq.decompress(cq.compress(bytes(1000)), max_bytes=10)
... except cq.CoquinaError as error:
...     print(type(error).__name__)
LimitError
"
);

pub(crate) fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    module.add("CoquinaError", py.get_type::<CoquinaError>())?;
    module.add("CorruptError", py.get_type::<CorruptError>())?;
    module.add("TruncatedError", py.get_type::<TruncatedError>())?;
    module.add("UnsupportedError", py.get_type::<UnsupportedError>())?;
    module.add("LimitError", py.get_type::<LimitError>())
}

/// An engine's error on its way to Python: maps kinds to exceptions, once.
pub(crate) struct Raised(pub(crate) PyErr);

impl From<Error> for Raised {
    fn from(error: Error) -> Self {
        let sentence = visible(&error.to_string());
        Self(match error.kind() {
            ErrorKind::Corrupt => CorruptError::new_err(sentence),
            ErrorKind::Truncated => TruncatedError::new_err(sentence),
            ErrorKind::Unsupported => UnsupportedError::new_err(sentence),
            ErrorKind::Limit => LimitError::new_err(sentence),
            ErrorKind::Invalid => PyValueError::new_err(sentence),
            ErrorKind::OutOfBounds => PyIndexError::new_err(sentence),
            ErrorKind::Cancelled => PyKeyboardInterrupt::new_err(sentence),
            ErrorKind::Io => {
                // What a file object of the caller's raised comes back as it was.
                let inner = error.io().and_then(|io| io.get_ref()).and_then(|e| e.downcast_ref::<PyErr>());
                if let Some(raised) = inner {
                    return Self(Python::attach(|py| noted(py, raised.clone_ref(py), &error)));
                }
                let kind = error.io().map_or(std::io::ErrorKind::Other, std::io::Error::kind);
                std::io::Error::new(kind, sentence).into()
            }
        })
    }
}

/// A sentence with an escape for each character of a name in it that would act on a terminal: `coquina.quoting` says
/// which these are for all that is shown.
fn visible(sentence: &str) -> String {
    let acts = |c: char| {
        c.is_control() && !matches!(c, '\n' | '\t')
            || matches!(c, '\u{ad}' | '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}')
            || matches!(c, '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}')
    };
    let mut visible = String::with_capacity(sentence.len());
    for c in sentence.chars() {
        match (acts(c), u32::from(c)) {
            (false, _) => visible.push(c),
            (true, code @ ..=0xff) => visible.push_str(&format!("\\x{code:02x}")),
            (true, code @ ..=0xffff) => visible.push_str(&format!("\\u{code:04x}")),
            (true, code) => visible.push_str(&format!("\\U{code:08x}")),
        }
    }
    visible
}

/// An exception of the caller's own code, with a note that says where it was called.
fn noted(py: Python<'_>, raised: PyErr, error: &Error) -> PyErr {
    let places: Vec<&str> = error.places().collect();
    if !places.is_empty() {
        // An exception that takes no notes is raised without.
        let _ = raised.add_note(py, format!("coquina: {}", places.join(": ")));
    }
    raised
}

impl From<PyErr> for Raised {
    fn from(error: PyErr) -> Self {
        Self(error)
    }
}

impl From<Raised> for PyErr {
    fn from(raised: Raised) -> Self {
        raised.0
    }
}
