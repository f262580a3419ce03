//! Object headers, versions 1 and 2: the messages that describe a dataset, in one block and its continuations.
//!
//! In: the address of a header. Out: its messages, in file order.
//! Source: HDF5 File Format Specification 3.0, "Data Object Headers", IV.A.1.

use super::blocks::Blocks;
use super::fields::{Fields, Widths, size};
use crate::base::error::{Error, Result};

const CONTINUATION: u16 = 0x10;
const OLD_PREFIX_BYTES: usize = 16;
/// Flags of a version 2 header.
const HAS_ORDER: u8 = 0x04;
const HAS_PHASES: u8 = 0x10;
const HAS_TIMES: u8 = 0x20;

/// One message.
#[derive(Clone, Copy, Debug)]
pub(super) struct Message<'a> {
    /// What it says.
    pub(super) kind: u16,
    /// The body says where the real one is.
    pub(super) is_shared: bool,
    pub(super) body: &'a [u8],
}

/// How messages are framed.
#[derive(Clone, Copy, Debug)]
enum Form {
    Old,
    New { has_order: bool },
}

/// Shows every message of the header at `address`, those that continue it included.
pub(super) fn walk(
    blocks: &mut Blocks<'_>,
    widths: Widths,
    address: u64,
    see: &mut dyn FnMut(Message<'_>) -> Result<()>,
) -> Result<()> {
    // Every continuation takes bytes of the file, so that there are not more of them than the file has room for.
    let mut waiting = Vec::new();
    let form = match blocks.peek(address, 4)? {
        b"OHDR" => read_new(blocks, widths, address, &mut waiting, see)?,
        &[1, ..] => read_old(blocks, widths, address, &mut waiting, see)?,
        &[version, ..] => {
            let text = format!("at {address}: a header of version {version}, known are 1 and 2");
            return Err(Error::corrupt(text));
        }
        [] => return Err(Error::truncated("no header")),
    };
    while let Some((address, length)) = waiting.pop() {
        let bytes = size(length, "continuation")?;
        let content = match form {
            Form::Old => blocks.take(address, bytes)?,
            Form::New { .. } => blocks.signed(*b"OCHK", address, bytes)?,
        };
        messages(content, form, widths, &mut waiting, see).map_err(|e| e.at("continuation"))?;
    }
    Ok(())
}

type Waiting = Vec<(u64, u64)>;

fn read_old(
    blocks: &mut Blocks<'_>,
    widths: Widths,
    address: u64,
    waiting: &mut Waiting,
    see: &mut dyn FnMut(Message<'_>) -> Result<()>,
) -> Result<Form> {
    let mut prefix = Fields::new(blocks.peek(address, OLD_PREFIX_BYTES)?);
    prefix.bytes(8, "counts")?;
    let bytes = size(prefix.u32("header size")?.into(), "header size")?;
    let block = blocks.take(address, OLD_PREFIX_BYTES.saturating_add(bytes))?;
    messages(&block[OLD_PREFIX_BYTES..], Form::Old, widths, waiting, see)?;
    Ok(Form::Old)
}

fn read_new(
    blocks: &mut Blocks<'_>,
    widths: Widths,
    address: u64,
    waiting: &mut Waiting,
    see: &mut dyn FnMut(Message<'_>) -> Result<()>,
) -> Result<Form> {
    let mut start = Fields::new(blocks.peek(address, 6)?);
    start.bytes(4, "signature")?;
    start.version(2, "object header")?;
    let flags = start.u8("flags")?;
    let times = if flags & HAS_TIMES != 0 { 16 } else { 0 };
    let phases = if flags & HAS_PHASES != 0 { 4 } else { 0 };
    let width = 1_usize << (flags & 3);
    let prefix = 6 + times + phases + width;
    let mut fields = Fields::new(blocks.peek(address, prefix)?);
    fields.bytes(prefix - width, "prefix")?;
    let bytes = size(fields.uint(width, "size of chunk 0")?, "size of chunk 0")?;
    let block = blocks.signed(*b"OHDR", address, bytes.saturating_add(prefix + 4))?;
    let form = Form::New { has_order: flags & HAS_ORDER != 0 };
    messages(&block[prefix - 4..], form, widths, waiting, see)?;
    Ok(form)
}

fn messages(
    content: &[u8],
    form: Form,
    widths: Widths,
    waiting: &mut Waiting,
    see: &mut dyn FnMut(Message<'_>) -> Result<()>,
) -> Result<()> {
    let prefix = match form {
        Form::Old => 8,
        Form::New { has_order } => 4 + 2 * usize::from(has_order),
    };
    let mut fields = Fields::new(content);
    // Fewer bytes than that at the end are a gap.
    while fields.left().len() >= prefix {
        let kind = match form {
            Form::Old => fields.u16("message type")?,
            Form::New { .. } => fields.u8("message type")?.into(),
        };
        let bytes = fields.u16("message size")?;
        let flags = fields.u8("message flags")?;
        match form {
            Form::Old => fields.bytes(3, "reserved")?,
            Form::New { has_order } => fields.bytes(2 * usize::from(has_order), "creation order")?,
        };
        let body = fields.bytes(bytes.into(), "message")?;
        if kind == CONTINUATION {
            let mut body = Fields::new(body);
            let address = body.address(widths, "continuation")?;
            let length = body.uint(widths.length, "length of continuation")?;
            waiting.push((address.ok_or_else(|| Error::corrupt("continuation: nowhere"))?, length));
        } else {
            see(Message { kind, is_shared: flags & 2 != 0, body })?;
        }
    }
    Ok(())
}
