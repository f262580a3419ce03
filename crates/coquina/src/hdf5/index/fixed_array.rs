//! Fixed arrays of chunks: the index of datasets whose axes all have an end.
//!
//! In: the address of the header. Out: rows. Many elements are in pages, of which only those are valid that the
//! bitmap names.
//! Source: HDF5 File Format Specification 3.0, III.C "Fixed Array Index".
//! Invariant: there are as many elements as chunks in the maximal shape.

use super::blocks::Blocks;
use super::fields::{Fields, Widths, size};
use super::rows::{Encoding, Filtering, NumberedRows};
use crate::base::error::{Error, Result};

/// Rows of the array whose header is at `address`.
pub(super) fn read(
    blocks: &mut Blocks<'_>,
    widths: Widths,
    address: u64,
    filtering: Filtering,
    rows: &mut NumberedRows<'_, '_>,
) -> Result<()> {
    let Filtering { is_filtered, chunk_bytes } = filtering;
    let length = 4 + 4 + widths.length + widths.address + 4;
    let mut fields = Fields::new(blocks.signed(*b"FAHD", address, length)?);
    fields.version(0, "FAHD")?;
    check_client(fields.u8("client")?, is_filtered)?;
    let encoding =
        Encoding::new(fields.u8("element size")?.into(), is_filtered, widths.address, chunk_bytes)?;
    let page_bits = u32::from(fields.u8("page bits")?);
    let count = fields.uint(widths.length, "elements")?;
    let Some(block) = fields.address(widths, "data block")? else { return Ok(()) };
    if rows.numbers.count() != Some(count) {
        let text = format!("FAHD: {count} elements, the shape asks for {:?}", rows.numbers.count());
        return Err(Error::corrupt(text));
    }
    let page = 1_u64.checked_shl(page_bits).filter(|&page| page < count);
    let prefix = 4 + 2 + widths.address;
    let bitmap_bytes = match page {
        None => elements_bytes(count, &encoding)?,
        Some(page) => size(count.div_ceil(page).div_ceil(8), "page bitmap")?,
    };
    let content = blocks.signed(*b"FADB", block, bitmap_bytes.saturating_add(prefix + 4))?;
    let mut fields = Fields::new(content);
    fields.version(0, "FADB")?;
    check_client(fields.u8("client")?, is_filtered)?;
    check_owner(fields.address(widths, "header")?, address)?;
    let Some(page) = page else {
        return rows.put_elements(fields.left(), 0, &encoding);
    };
    let bitmap = fields.left().to_vec();
    let start = block.checked_add((prefix + 4 + bitmap_bytes) as u64);
    let pages = Pages { count, page, start, bitmap, encoding };
    pages.read(blocks, rows)
}

/// Elements in pages, which stand one behind the other.
struct Pages {
    /// Elements in all.
    count: u64,
    /// Elements of a page.
    page: u64,
    start: Option<u64>,
    /// Which pages were ever written.
    bitmap: Vec<u8>,
    encoding: Encoding,
}

impl Pages {
    fn read(&self, blocks: &mut Blocks<'_>, rows: &mut NumberedRows<'_, '_>) -> Result<()> {
        let page_bytes = elements_bytes(self.page, &self.encoding)?.saturating_add(4) as u64;
        let mut at = self.start;
        for number in 0..self.count.div_ceil(self.page) {
            let place = at.ok_or_else(|| Error::corrupt(format!("page {number} beyond all addresses")))?;
            if is_set(&self.bitmap, number) {
                let first = number * self.page;
                let elements = self.page.min(self.count - first);
                let bytes = elements_bytes(elements, &self.encoding)?.saturating_add(4);
                let elements = blocks.summed(place, bytes).map_err(|e| e.at(format!("page {number}")))?;
                rows.put_elements(elements, first, &self.encoding)?;
            }
            at = place.checked_add(page_bytes);
        }
        Ok(())
    }
}

pub(super) fn elements_bytes(count: u64, encoding: &Encoding) -> Result<usize> {
    let bytes = count.checked_mul(encoding.bytes() as u64);
    size(bytes.ok_or_else(|| Error::corrupt(format!("{count} elements")))?, "elements")
}

/// Whether the bit with this number is set; the first one is the highest of its byte.
pub(super) fn is_set(bitmap: &[u8], number: u64) -> bool {
    let byte = usize::try_from(number / 8).ok().and_then(|at| bitmap.get(at));
    byte.is_some_and(|byte| byte & (0x80 >> (number % 8)) != 0)
}

/// Elements of client 0 have no filters, those of client 1 have.
pub(super) fn check_client(client: u8, is_filtered: bool) -> Result<()> {
    match client == u8::from(is_filtered) {
        true => Ok(()),
        false => Err(Error::corrupt(format!("elements for client {client}, filtered: {is_filtered}"))),
    }
}

/// Every block of an array names the header.
pub(super) fn check_owner(stored: Option<u64>, header: u64) -> Result<()> {
    match stored == Some(header) {
        true => Ok(()),
        false => {
            Err(Error::corrupt(format!("a block of the array at {stored:?}, not of the one at {header}")))
        }
    }
}
