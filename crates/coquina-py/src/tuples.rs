//! Structs that are tuples in Python: what Python code gives by place has names here.

/// Makes a struct that is read from a tuple with an item for each field, in their order.
macro_rules! tuple_struct {
    (
        $(#[$meta:meta])*
        $public:vis struct $name:ident $(<$py:lifetime>)? { $($(#[$doc:meta])* $field:ident: $kind:ty),* $(,)? }
    ) => {
        $(#[$meta])*
        $public struct $name $(<$py>)? { $($(#[$doc])* $field: $kind),* }

        impl<'a, 'py> pyo3::FromPyObject<'a, 'py> for $name $(<$py>)? {
            type Error = pyo3::PyErr;

            fn extract(object: pyo3::Borrowed<'a, 'py, pyo3::PyAny>) -> pyo3::PyResult<Self> {
                let ($($field,)*): ($($kind,)*) = object.extract()?;
                Ok(Self { $($field),* })
            }
        }
    };
}

pub(crate) use tuple_struct;
