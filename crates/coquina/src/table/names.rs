//! What the attributes of a table say of its columns: which there are, and in which order.
//!
//! Source: anndata, on-disk format, "dataframes"; `docs/formats/columns.md`, "The group".

use super::encodings::text_of;
use super::options::ArrayOptions;
use super::storage::TableStorage;
use crate::base::error::{Error, Result};
use crate::base::json::{Json, JsonObject};

const ORDER: &str = "column-order";
const INDEX: &str = "_index";

/// The columns that a table names.
pub(crate) struct Names {
    /// In order.
    pub(crate) order: Vec<String>,
    /// What pandas takes for the index: one of them, or a first column that is not among them.
    pub(crate) index: Option<String>,
}

impl Names {
    /// Those of a storage.
    ///
    /// # Errors
    /// `Unsupported` for what is no table of columns.
    pub(crate) fn read(storage: &dyn TableStorage) -> Result<Self> {
        let attributes = storage.attributes("");
        let kind = text_of(&attributes, "encoding-type");
        let order = attributes.get(ORDER.as_bytes());
        if let (Some("dataframe"), Some(order)) = (kind.as_deref(), order) {
            let names = order.as_list().unwrap_or(std::slice::from_ref(order));
            let mut order: Vec<String> = Vec::with_capacity(names.len());
            let mut known = std::collections::BTreeSet::new();
            // A path from the root on would lead out of the table.
            for name in names.iter().filter_map(Json::as_str) {
                if !name.is_empty() && !name.starts_with('/') && known.insert(name) {
                    order.push(name.to_owned());
                }
            }
            return Ok(Self { order, index: text_of(&attributes, INDEX) });
        }
        let kind = kind.map_or_else(|| "none".to_owned(), |kind| format!("{kind:?}"));
        Err(Error::unsupported(format!("encoding {kind} is not a table of columns")))
    }

    /// All columns that there are; an index of its own is the first.
    pub(crate) fn all(&self, storage: &dyn TableStorage) -> Vec<String> {
        let index = self.index.iter().filter(|index| !self.order.contains(index));
        let index = index.filter(|index| !index.is_empty() && storage.kind(index).is_some());
        index.chain(&self.order).cloned().collect()
    }

    /// Says so, within a change.
    pub(crate) fn write(&self, storage: &mut dyn TableStorage) -> Result<()> {
        let mut attributes = JsonObject::default();
        let order = self.order.iter().map(|name| Json::from(name.as_str())).collect();
        attributes.set(ORDER.into(), Json::List(order));
        let index = self.index.as_ref().or(self.order.first());
        attributes.set(INDEX.into(), index.map_or("", String::as_str).into());
        storage.set_attributes("", attributes)
    }
}

/// Marks a storage as a table of columns, within a change.
pub(crate) fn put_table(storage: &mut dyn TableStorage, options: &ArrayOptions, title: &str) -> Result<()> {
    let mut attributes = JsonObject::default();
    attributes.set("encoding-type".into(), "dataframe".into());
    attributes.set("encoding-version".into(), "0.2.0".into());
    attributes.set("coquina".into(), options.write());
    if !title.is_empty() {
        attributes.set("title".into(), title.into());
    }
    storage.set_attributes("", attributes)
}

/// Complains of a name that a column cannot have.
pub(crate) fn check_name<'n>(name: &str, mut taken: impl Iterator<Item = &'n str>) -> Result<()> {
    if ["", ".", "..", INDEX].contains(&name) || name.contains(['/', '\0']) {
        return Err(Error::invalid(format!(
            "a column cannot be called {name:?}: use a name without \"/\" other than \".\" and {INDEX:?}"
        )));
    }
    if taken.any(|known| known == name) {
        return Err(Error::invalid(format!("a column {name:?} exists already")));
    }
    Ok(())
}
