//! Attributes of a dataset that say how its chunks are encoded, as the layers that say the same in a frame.
//!
//! In: functions of Python, which know names and contents of the attributes (`python/coquina/hdf5/policy_attributes.py`).
//! Out: [`Attributes`]. They are called under h5py's lock.

use coquina::store::hdf5::Attributes;
use coquina::{Error, Result, lossy, tune};
use pyo3::intern;
use pyo3::prelude::*;

use super::Dataset;
use crate::arrays::{GoalTerms, ReachedTerms, Terms, goal_of, reached_tuple, record, to_tuple};

impl Attributes for Dataset {
    fn layer(&self, name: &str, dtype: &str) -> Result<Option<Vec<u8>>> {
        match name {
            lossy::LAYER => self.bound(dtype),
            tune::LAYER => self.goal(),
            _ => Ok(None),
        }
    }

    fn set_layer(&self, name: &str, content: Option<&[u8]>, dtype: &str) -> Result<()> {
        let written = match (name, content) {
            (lossy::LAYER, Some(content)) => {
                let reached = reached_tuple(&lossy::Record::read(content, dtype)?.reached);
                self.with_attributes_of(|attributes, dataset| {
                    attributes.call_method1(intern!(dataset.py(), "write_reached"), (dataset, reached))?;
                    Ok(())
                })
            }
            (tune::LAYER, content) => {
                let goal = content.map(tune::Goal::read).transpose()?;
                let terms = goal.as_ref().map(to_tuple);
                self.with_attributes_of(|attributes, dataset| {
                    attributes.call_method1(intern!(dataset.py(), "write_goal"), (dataset, terms))?;
                    Ok(())
                })
            }
            _ => return Err(Error::unsupported("an HDF5 dataset has attributes, not metalayers")),
        };
        written.map(|_| ())
    }
}

impl Dataset {
    /// The bound and what was reached. Attributes that no items of this dtype can have promise nothing.
    fn bound(&self, dtype: &str) -> Result<Option<Vec<u8>>> {
        let found = self.with_attributes_of(|attributes, dataset| {
            let found = attributes.call_method1(intern!(dataset.py(), "read_bound"), (dataset,))?;
            found.extract::<Option<(Terms, ReachedTerms)>>()
        })?;
        let found = found.flatten();
        Ok(found
            .and_then(|(terms, reached)| record(&terms, reached.into(), dtype).ok())
            .map(|one| one.write()))
    }

    fn goal(&self) -> Result<Option<Vec<u8>>> {
        let found = self.with_attributes_of(|attributes, dataset| {
            let found = attributes.call_method1(intern!(dataset.py(), "read_goal"), (dataset,))?;
            found.extract::<Option<GoalTerms>>()
        })?;
        Ok(goal_of(found.flatten())?.map(|goal| goal.write()))
    }
}
