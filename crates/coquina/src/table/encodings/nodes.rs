//! The nodes of a column: those that a new one is made of, and those that a stored one has by its attributes.
//!
//! In: what the values of a column are, or the attributes of a node. Out: names, roles and attributes of nodes; nothing
//! is made or opened here, so that storages whose arrays are not the engine's follow the same description.
//! Source: anndata, on-disk format, "dataframes"; `docs/formats/columns.md`, "Columns".

use coquina_kernels::Type;

use super::forms::{AwkwardForm, AwkwardParts, awkward_numbers, awkward_parts, awkward_texts, marked};
use super::stored::{array_marks, marks};
use super::times::time_marks;
use crate::base::error::Result;
use crate::base::json::JsonObject;

const CODES: [Type; 4] = [Type::I8, Type::I16, Type::I32, Type::I64];

/// A column to be made, as far as it decides how its values are stored.
#[derive(Clone, Debug)]
pub struct NewColumn<'a> {
    /// NumPy's letter for the kind of the values: `T`, `U` or `O` for text.
    pub kind: char,
    /// NumPy's name of their type.
    pub dtype: &'a str,
    /// Whether values may be missing.
    pub is_nullable: bool,
    /// The time zone that dates are shown in.
    pub zone: Option<&'a str>,
    /// The list that values are out of; `None` for values that are stored themselves.
    pub categories: Option<NewCategories>,
}

/// The list of values of a new column of categories.
#[derive(Clone, Copy, Debug)]
pub struct NewCategories {
    /// How many values it is to have.
    pub count: usize,
    /// Whether they stand in an order of their own.
    pub is_ordered: bool,
}

/// What a node is for a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeRole {
    /// The group that the other nodes are in.
    Group,
    /// An array with a value for each row.
    Values,
    /// An array of truth values, true where a value is missing.
    Mask,
    /// An array of places in a list of values, -1 for none.
    Codes,
    /// An array that says where texts begin and end: one item more than rows. A new one has the item 0.
    Offsets,
    /// An array of the bytes of texts.
    Bytes,
    /// An array of the values that codes stand for.
    List,
    /// Texts that codes stand for, or the texts of a column that is read whole.
    Texts,
}

impl NodeRole {
    /// The role by a word.
    pub fn name(self) -> &'static str {
        match self {
            Self::Group => "group",
            Self::Values => "values",
            Self::Mask => "mask",
            Self::Codes => "codes",
            Self::Offsets => "offsets",
            Self::Bytes => "bytes",
            Self::List => "list",
            Self::Texts => "texts",
        }
    }
}

/// A node of a new column.
#[derive(Clone, Debug)]
pub struct NewNode {
    /// Its name in the group of the column; empty for the column itself.
    pub name: String,
    /// What it is for the column.
    pub role: NodeRole,
    /// The type of the items of an array; `None` for that of the column's values.
    pub item: Option<Type>,
    /// Its attributes.
    pub attributes: JsonObject,
}

impl NewNode {
    fn group(attributes: JsonObject) -> Self {
        Self { name: String::new(), role: NodeRole::Group, item: None, attributes }
    }

    fn array(name: impl Into<String>, role: NodeRole, item: Option<Type>) -> Self {
        Self { name: name.into(), role, item, attributes: array_marks() }
    }
}

/// The nodes of a new column, in the order in which they are made.
pub fn column_nodes(column: &NewColumn<'_>) -> Vec<NewNode> {
    if let Some(categories) = column.categories {
        return category_nodes(column, categories);
    }
    match column.kind {
        'T' | 'U' | 'O' => text_nodes(column.is_nullable),
        'm' | 'M' => {
            let times = NewNode::array("", NodeRole::Values, Some(Type::I64));
            vec![NewNode { attributes: time_marks(column.dtype, column.zone), ..times }]
        }
        _ if column.is_nullable => nullable_nodes(column),
        _ => vec![NewNode::array("", NodeRole::Values, None)],
    }
}

fn text_nodes(is_nullable: bool) -> Vec<NewNode> {
    let AwkwardForm { json, parts } = awkward_texts(is_nullable);
    let mask = parts.mask.map(|name| NewNode::array(name, NodeRole::Mask, Some(Type::Bool)));
    let offsets = parts.offsets.map(|name| NewNode::array(name, NodeRole::Offsets, Some(Type::I64)));
    let bytes = NewNode::array(parts.data, NodeRole::Bytes, Some(Type::U8));
    [Some(NewNode::group(marked(&json))), mask, offsets, Some(bytes)].into_iter().flatten().collect()
}

/// `AnnData` has an encoding for integers and one for truth values; other numbers are an awkward array.
fn nullable_nodes(column: &NewColumn<'_>) -> Vec<NewNode> {
    let kind = match column.kind {
        'b' => "nullable-boolean",
        'i' | 'u' => "nullable-integer",
        _ => "",
    };
    let (group, values, mask) = if kind.is_empty() {
        let AwkwardForm { json, parts } = awkward_numbers(column.dtype);
        (marked(&json), parts.data, parts.mask.unwrap_or_default())
    } else {
        (marks(kind, "0.1.0"), "values".into(), "mask".into())
    };
    vec![
        NewNode::group(group),
        NewNode::array(values, NodeRole::Values, None),
        NewNode::array(mask, NodeRole::Mask, Some(Type::Bool)),
    ]
}

fn category_nodes(column: &NewColumn<'_>, categories: NewCategories) -> Vec<NewNode> {
    let NewCategories { count, is_ordered } = categories;
    let CategoryNodes { codes, list } = CategoryNodes::default();
    let mut attributes = marks("categorical", "0.2.0");
    attributes.set("ordered".into(), is_ordered.into());
    let list = match column.kind {
        'T' | 'U' | 'O' | 'S' => {
            let texts = NewNode::array(list, NodeRole::Texts, None);
            NewNode { attributes: marks("string-array", "0.2.0"), ..texts }
        }
        'm' | 'M' => {
            let times = NewNode::array(list, NodeRole::List, Some(Type::I64));
            NewNode { attributes: time_marks(column.dtype, None), ..times }
        }
        _ => NewNode::array(list, NodeRole::List, None),
    };
    vec![NewNode::group(attributes), NewNode::array(codes, NodeRole::Codes, Some(codes_type(count))), list]
}

/// The smallest integers that so many codes fit in, and -1.
pub(super) fn codes_type(count: usize) -> Type {
    let fits = |ty: &Type| u128::from(count as u64) < 1_u128 << (8 * ty.bytes() - 1);
    CODES.into_iter().find(fits).unwrap_or(Type::I64)
}

/// Whether an array of such items can be codes.
pub(super) fn is_code(ty: Type) -> bool {
    CODES.contains(&ty)
}

/// The nodes that a stored column has, by their names in its group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ColumnNodes {
    /// Values, and which of them are missing.
    Values(ValueNodes),
    /// Text of any length.
    Texts(TextNodes),
    /// Places in a list of values.
    Categories(CategoryNodes),
    /// HDF5's strings of variable length, which are read whole.
    WholeTexts {
        /// The strings.
        texts: String,
        /// An array of truth values, true where a text is missing.
        mask: String,
    },
}

/// The arrays of a column of values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ValueNodes {
    /// An array with a value for each row.
    pub values: String,
    /// An array of truth values, true where a value is missing.
    pub mask: Option<String>,
}

/// The arrays of a column of text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextNodes {
    /// An array that says where texts begin and end.
    pub offsets: String,
    /// An array of the bytes of all texts.
    pub bytes: String,
    /// An array of truth values, true where a text is missing.
    pub mask: Option<String>,
}

/// The nodes of a column of categories.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CategoryNodes {
    /// An array of places in the list.
    pub codes: String,
    /// Texts, or an array of values.
    pub list: String,
}

impl Default for CategoryNodes {
    fn default() -> Self {
        Self { codes: "codes".into(), list: "categories".into() }
    }
}

impl ColumnNodes {
    /// The names by roles.
    pub fn by_role(self) -> Vec<(NodeRole, String)> {
        let (mut named, mask) = match self {
            Self::Values(ValueNodes { values, mask }) => (vec![(NodeRole::Values, values)], mask),
            Self::Texts(TextNodes { offsets, bytes, mask }) => {
                (vec![(NodeRole::Offsets, offsets), (NodeRole::Bytes, bytes)], mask)
            }
            Self::Categories(CategoryNodes { codes, list }) => {
                (vec![(NodeRole::Codes, codes), (NodeRole::List, list)], None)
            }
            Self::WholeTexts { texts, mask } => (vec![(NodeRole::Texts, texts)], Some(mask)),
        };
        named.extend(mask.map(|mask| (NodeRole::Mask, mask)));
        named
    }
}

impl From<AwkwardParts> for ColumnNodes {
    fn from(AwkwardParts { data, offsets, mask }: AwkwardParts) -> Self {
        match offsets {
            Some(offsets) => Self::Texts(TextNodes { offsets, bytes: data, mask }),
            None => Self::Values(ValueNodes { values: data, mask }),
        }
    }
}

/// The nodes of the column that is a group. `attribute` gives those of the group that are text.
///
/// # Errors
/// `Unsupported` for an encoding of columns in a form that is not known here; what goes wrong with reading attributes.
/// `None` for another encoding.
pub fn stored_nodes(
    mut attribute: impl FnMut(&str) -> Result<Option<String>>,
) -> Result<Option<ColumnNodes>> {
    Ok(Some(match attribute("encoding-type")?.as_deref() {
        Some("categorical") => ColumnNodes::Categories(CategoryNodes::default()),
        Some("nullable-integer" | "nullable-boolean") => {
            ColumnNodes::Values(ValueNodes { values: "values".into(), mask: Some("mask".into()) })
        }
        Some("nullable-string-array") => {
            ColumnNodes::WholeTexts { texts: "values".into(), mask: "mask".into() }
        }
        Some("awkward-array") => awkward_parts(attribute("form")?.as_deref())?.into(),
        _ => return Ok(None),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::encodings::text_of;

    fn stored(attributes: &JsonObject) -> Result<Option<ColumnNodes>> {
        stored_nodes(|name| Ok(text_of(attributes, name)))
    }

    #[test]
    fn a_new_group_says_the_nodes_that_it_was_made_with() {
        let few = Some(NewCategories { count: 3, is_ordered: true });
        for (kind, dtype, categories) in [
            ('T', "str", None),
            ('T', "str", few),
            ('b', "bool", None),
            ('u', "uint8", None),
            ('f', "float32", None),
            ('c', "complex128", None),
        ] {
            for is_nullable in [true, kind != 'T'] {
                let column = NewColumn { kind, dtype, is_nullable, zone: None, categories };
                let [group, parts @ ..] = &column_nodes(&column)[..] else { panic!("{column:?}") };
                assert_eq!((group.role, group.name.as_str()), (NodeRole::Group, ""), "{column:?}");
                let found = stored(&group.attributes).unwrap().unwrap().by_role();
                assert_eq!(found.len(), parts.len(), "{column:?}");
                for NewNode { name, role, .. } in parts {
                    // The list of categories may be text or an array.
                    let role = if *role == NodeRole::Texts { NodeRole::List } else { *role };
                    assert!(found.contains(&(role, name.clone())), "{column:?}");
                }
            }
        }
    }

    #[test]
    fn codes_are_the_smallest_integers_that_fit() {
        let wanted =
            [(0, Type::I8), (127, Type::I8), (128, Type::I16), (1 << 15, Type::I32), (1 << 31, Type::I64)];
        for (count, ty) in wanted {
            assert_eq!(codes_type(count), ty, "{count}");
        }
    }

    #[test]
    fn other_encodings_are_no_columns() {
        for kind in ["dataframe", "", "array"] {
            assert_eq!(stored(&marks(kind, "0.1.0")).unwrap(), None);
        }
        assert_eq!(stored(&JsonObject::default()).unwrap(), None);
        assert!(stored(&marks("awkward-array", "0.1.0")).is_err());
    }
}
