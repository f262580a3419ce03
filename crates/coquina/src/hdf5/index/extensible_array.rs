//! Extensible arrays of chunks: the index of datasets with one unlimited axis.
//!
//! In: the address of the header. Out: rows. The first elements stand in the index block, then come data blocks in
//! groups ("super blocks") that double: those of the first groups are named by the index block, others by a super
//! block of their own. Long data blocks are in pages, of which only those are valid that the bitmap names.
//! Source: HDF5 File Format Specification 3.0, III.D "Extensible Array Index".
//! Invariant: elements at and behind the "maximal index set" of the header do not exist.

use super::blocks::Blocks;
use super::fields::{Fields, Widths, address, size};
use super::fixed_array::{check_client, check_owner, elements_bytes, is_set};
use super::rows::{Encoding, Filtering, NumberedRows};
use crate::base::error::{Error, Result};

/// What the header says.
struct Array {
    header: u64,
    is_filtered: bool,
    widths: Widths,
    encoding: Encoding,
    /// Bytes of the place of a block among the elements.
    offset_bytes: usize,
    index_elements: u64,
    block_elements: u64,
    pointers: u64,
    page_elements: u64,
    groups: u32,
    count: u64,
    index_block: Option<u64>,
}

/// Data blocks of one super block.
#[derive(Clone, Copy, Debug)]
struct Group {
    blocks: u64,
    /// Elements of each.
    elements: u64,
    /// Number of the first element.
    first: u64,
}

impl Group {
    /// The data block at `place`, of which `number` stand before it in the group.
    fn block(&self, place: u64, number: u64) -> DataBlock {
        DataBlock { place, first: self.first + number * self.elements, elements: self.elements }
    }
}

/// A data block.
struct DataBlock {
    place: u64,
    /// Number of the first element.
    first: u64,
    elements: u64,
}

/// Rows of the array whose header is at `address`.
pub(super) fn read(
    blocks: &mut Blocks<'_>,
    widths: Widths,
    address: u64,
    filtering: Filtering,
    rows: &mut NumberedRows<'_, '_>,
) -> Result<()> {
    let length = 4 + 8 + 6 * widths.length + widths.address + 4;
    let fields = Fields::new(blocks.signed(*b"EAHD", address, length)?);
    let array = Array::read(fields, widths, address, filtering).map_err(|e| e.at("EAHD"))?;
    array.read_index_block(blocks, rows)
}

impl Array {
    fn read(mut fields: Fields<'_>, widths: Widths, header: u64, filtering: Filtering) -> Result<Self> {
        let Filtering { is_filtered, chunk_bytes } = filtering;
        fields.version(0, "version")?;
        check_client(fields.u8("client")?, is_filtered)?;
        let element = fields.u8("element size")?;
        let bits = u32::from(fields.u8("bits of an element number")?);
        let index_elements = fields.u8("elements of the index block")?.into();
        let block_elements = u64::from(fields.u8("least elements of a data block")?);
        let pointers = u64::from(fields.u8("least pointers of a super block")?);
        let page_bits = u32::from(fields.u8("page bits")?);
        fields.bytes(4 * widths.length, "statistics")?;
        let count = fields.uint(widths.length, "maximal index set")?;
        fields.bytes(widths.length, "elements")?;
        let index_block = fields.address(widths, "index block")?;
        let encoding = Encoding::new(element.into(), is_filtered, widths.address, chunk_bytes)?;
        let is_sound = block_elements.is_power_of_two() && pointers.is_power_of_two() && bits <= 56;
        let groups = (1 + bits).checked_sub(block_elements.max(1).ilog2());
        let Some(groups) = groups.filter(|&groups| is_sound && groups >= 2 * pointers.max(1).ilog2()) else {
            let text = format!("{bits} bits, blocks of {block_elements} elements, {pointers} pointers");
            return Err(Error::unsupported(text));
        };
        Ok(Self {
            header,
            is_filtered,
            widths,
            encoding,
            offset_bytes: bits.div_ceil(8) as usize,
            index_elements,
            block_elements,
            pointers,
            page_elements: 1_u64.checked_shl(page_bits).unwrap_or(u64::MAX),
            groups,
            count,
            index_block,
        })
    }

    /// Group `number` of `groups`: sums up to it stay below 2^(bits + 9).
    fn group(&self, number: u32) -> Group {
        let first = self.index_elements + self.block_elements * ((1 << number) - 1);
        Group { blocks: 1 << (number / 2), elements: self.block_elements << number.div_ceil(2), first }
    }

    fn read_index_block(&self, blocks: &mut Blocks<'_>, rows: &mut NumberedRows<'_, '_>) -> Result<()> {
        let Some(block) = self.index_block else { return Ok(()) };
        let width = self.widths.address;
        let direct_groups = 2 * self.pointers.ilog2();
        let direct = size(2 * (self.pointers - 1), "data blocks")?;
        let elements = elements_bytes(self.index_elements, &self.encoding)?;
        let pointers = direct + (self.groups - direct_groups) as usize;
        let content = blocks.signed(*b"EAIB", block, 4 + 2 + width + elements + pointers * width + 4)?;
        let mut fields = Fields::new(content);
        self.check_block(&mut fields)?;
        let elements = fields.bytes(elements, "elements")?;
        self.put(elements, 0, rows)?;
        let pointers: Vec<_> = fields.left().chunks_exact(width).map(address).collect();
        let (direct, super_blocks) = pointers.split_at(direct.min(pointers.len()));
        let mut direct = direct.iter();
        for number in 0..self.groups {
            let group = self.group(number);
            if group.first >= self.count {
                break;
            }
            if number >= direct_groups {
                if let Some(&Some(place)) = super_blocks.get((number - direct_groups) as usize) {
                    self.read_super_block(blocks, place, group, rows)
                        .map_err(|e| e.at(format!("super block at {place}")))?;
                }
                continue;
            }
            if group.elements > self.page_elements {
                return Err(Error::unsupported("an index block that names data blocks in pages"));
            }
            for (n, place) in (0..group.blocks).zip(direct.by_ref()) {
                if let &Some(place) = place {
                    self.read_data_block(blocks, &group.block(place, n), None, rows)?;
                }
            }
        }
        Ok(())
    }

    fn read_super_block(
        &self,
        blocks: &mut Blocks<'_>,
        place: u64,
        group: Group,
        rows: &mut NumberedRows<'_, '_>,
    ) -> Result<()> {
        let width = self.widths.address;
        let pages = if group.elements > self.page_elements { group.elements / self.page_elements } else { 0 };
        let bitmap = size(group.blocks.saturating_mul(pages.div_ceil(8)), "page bitmap")?;
        let pointers = size(group.blocks.saturating_mul(width as u64), "data blocks")?;
        let bytes = (4 + 2 + width + self.offset_bytes + 4).saturating_add(bitmap).saturating_add(pointers);
        let mut fields = Fields::new(blocks.signed(*b"EASB", place, bytes)?);
        self.check_block(&mut fields)?;
        fields.bytes(self.offset_bytes, "offset")?;
        let bitmap = fields.bytes(bitmap, "page bitmap")?.to_vec();
        let pointers = fields.left().to_vec();
        for (n, pointer) in (0..).zip(pointers.chunks_exact(width)) {
            if group.first + n * group.elements >= self.count {
                break;
            }
            let Some(place) = address(pointer) else { continue };
            // Bits of all data blocks stand behind each other without gaps.
            let is_valid = |page| is_set(&bitmap, n * pages + page);
            let is_valid: Option<&dyn Fn(u64) -> bool> = if pages > 0 { Some(&is_valid) } else { None };
            self.read_data_block(blocks, &group.block(place, n), is_valid, rows)?;
        }
        Ok(())
    }

    /// `is_valid` says of a page whether it was ever written; `None` if the block is in one piece.
    fn read_data_block(
        &self,
        blocks: &mut Blocks<'_>,
        block: &DataBlock,
        is_valid: Option<&dyn Fn(u64) -> bool>,
        rows: &mut NumberedRows<'_, '_>,
    ) -> Result<()> {
        let &DataBlock { place, first, elements: count } = block;
        let prefix = 4 + 2 + self.widths.address + self.offset_bytes;
        let elements = if is_valid.is_some() { 0 } else { elements_bytes(count, &self.encoding)? };
        let at = |e: Error| e.at(format!("data block at {place}"));
        let content = blocks.signed(*b"EADB", place, elements.saturating_add(prefix + 4)).map_err(at)?;
        let mut fields = Fields::new(content);
        self.check_block(&mut fields).map_err(at)?;
        fields.bytes(self.offset_bytes, "offset").map_err(at)?;
        let Some(is_valid) = is_valid else {
            return self.put(fields.left(), first, rows);
        };
        let bytes = elements_bytes(self.page_elements, &self.encoding)?.saturating_add(4);
        let pages = place.checked_add((prefix + 4) as u64);
        for page in (0..count / self.page_elements).filter(|&page| is_valid(page)) {
            let address =
                page.checked_mul(bytes as u64).zip(pages).and_then(|(skip, pages)| pages.checked_add(skip));
            let address =
                address.ok_or_else(|| at(Error::corrupt(format!("page {page} beyond all addresses"))))?;
            let elements = blocks.summed(address, bytes).map_err(|e| at(e.at(format!("page {page}"))))?;
            self.put(elements, first + page * self.page_elements, rows)?;
        }
        Ok(())
    }

    fn check_block(&self, fields: &mut Fields<'_>) -> Result<()> {
        fields.version(0, "block")?;
        check_client(fields.u8("client")?, self.is_filtered)?;
        check_owner(fields.address(self.widths, "header")?, self.header)
    }

    /// Rows of elements from number `first` on, as far as they exist.
    fn put(&self, elements: &[u8], first: u64, rows: &mut NumberedRows<'_, '_>) -> Result<()> {
        let there =
            elements_bytes(self.count.saturating_sub(first).min(elements.len() as u64), &self.encoding)?;
        rows.put_elements(&elements[..there.min(elements.len())], first, &self.encoding)
    }
}
