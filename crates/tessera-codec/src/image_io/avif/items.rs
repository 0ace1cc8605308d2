//! The items of the container: which there are, where their data is, and what belongs to them.

use crate::image_io::avif::boxes::{Numbers, boxes, find};

const ALPHA: &[u8] = b"urn:mpeg:mpegB:cicp:systems:auxiliary:alpha\0";
const XMP_TYPE: &[u8] = b"application/rdf+xml\0";

/// Colours by number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Nclx {
    pub(super) primaries: u16,
    pub(super) transfer: u16,
    pub(super) matrix: u16,
    pub(super) full_range: bool,
}

/// A picture or a block of metadata.
#[derive(Debug, Clone, Default)]
pub(super) struct Item<'a> {
    id: u64,
    pub(super) kind: [u8; 4],
    is_xmp: bool,
    is_alpha: bool,
    /// Where the data is: from the start of the file, or in the container's own store.
    extents: Vec<(u64, u64)>,
    stored_inside: bool,
    pub(super) nclx: Option<Nclx>,
    pub(super) icc: Option<&'a [u8]>,
    pub(super) turns: u8,
    pub(super) mirror: Option<u8>,
    pub(super) cropped: bool,
    pub(super) premultiplied: bool,
    /// Items that this one is an addition to.
    belongs_to: Vec<u64>,
}

/// All items of a file.
pub(super) struct Items<'a> {
    file: &'a [u8],
    inside: &'a [u8],
    primary: u64,
    items: Vec<Item<'a>>,
}

/// Content of a box behind its version and flags.
fn full(content: &[u8]) -> Option<(u8, u64, &[u8])> {
    let (head, rest) = content.split_at_checked(4)?;
    Some((head[0], Numbers(&head[1..]).take(3)?, rest))
}

impl<'a> Items<'a> {
    /// `None` if the container makes no sense.
    pub(super) fn read(file: &'a [u8]) -> Option<Self> {
        let (_, _, meta) = full(find(file, b"meta")?)?;
        let (version, _, pitm) = full(find(meta, b"pitm")?)?;
        let mut items = Self {
            file,
            inside: find(meta, b"idat").unwrap_or_default(),
            primary: Numbers(pitm).take(if version == 0 { 2 } else { 4 })?,
            items: list(find(meta, b"iinf")?)?,
        };
        items.locate(find(meta, b"iloc")?)?;
        items.describe(find(meta, b"iprp")?)?;
        if let Some(references) = find(meta, b"iref") {
            items.refer(references)?;
        }
        Some(items)
    }

    pub(super) fn primary(&self) -> Option<&Item<'a>> {
        self.items.iter().find(|item| item.id == self.primary)
    }

    /// The alpha that belongs to an item.
    pub(super) fn alpha_of(&self, of: &Item<'_>) -> Option<&Item<'a>> {
        let belongs = |item: &&Item<'_>| item.is_alpha && item.belongs_to.contains(&of.id);
        self.items.iter().find(belongs)
    }

    /// Whether there is a picture derived by a gain map.
    pub(super) fn has_gain_map(&self) -> bool {
        self.items.iter().any(|item| &item.kind == b"tmap")
    }

    /// EXIF: an offset, then the block.
    pub(super) fn exif(&self) -> Option<Vec<u8>> {
        let item = self.items.iter().find(|item| &item.kind == b"Exif")?;
        let data = self.data(item)?;
        let offset = Numbers(&data).take(4)? as usize;
        Some(data.get(4 + offset..)?.to_vec())
    }

    pub(super) fn xmp(&self) -> Option<Vec<u8>> {
        self.data(self.items.iter().find(|item| item.is_xmp)?)
    }

    /// The data of an item, if all of it is there.
    pub(super) fn data(&self, item: &Item<'_>) -> Option<Vec<u8>> {
        let store = if item.stored_inside {
            self.inside
        } else {
            self.file
        };
        let mut data = Vec::new();
        for &(at, len) in &item.extents {
            let rest = store.get(usize::try_from(at).ok()?..)?;
            let len = if len == 0 {
                rest.len()
            } else {
                usize::try_from(len).ok()?
            };
            data.extend_from_slice(rest.get(..len)?);
        }
        Some(data)
    }

    fn get(&mut self, id: u64) -> Option<&mut Item<'a>> {
        self.items.iter_mut().find(|item| item.id == id)
    }

    /// Reads where the data is.
    fn locate(&mut self, content: &[u8]) -> Option<()> {
        let (version, _, rest) = full(content)?;
        let mut numbers = Numbers(rest);
        let sizes = numbers.take(2)?;
        let size = |shift: u64| (sizes >> shift & 15) as usize;
        let (offset, length, base, index) = (size(12), size(8), size(4), size(0));
        let id_len = if version < 2 { 2 } else { 4 };
        for _ in 0..numbers.take(id_len)? {
            let id = numbers.take(id_len)?;
            let method = if version == 0 {
                0
            } else {
                numbers.take(2)? & 15
            };
            let _file = numbers.take(2)?;
            let start = numbers.take(base)?;
            let mut extents = Vec::new();
            for _ in 0..numbers.take(2)? {
                numbers.take(if version == 0 { 0 } else { index })?;
                let at = start.checked_add(numbers.take(offset)?)?;
                extents.push((at, numbers.take(length)?));
            }
            if let Some(item) = self.get(id) {
                item.extents = extents;
                item.stored_inside = method == 1;
            }
        }
        Some(())
    }

    /// Reads which properties belong to which item.
    fn describe(&mut self, content: &'a [u8]) -> Option<()> {
        let properties: Vec<_> = boxes(find(content, b"ipco")?).collect();
        let (version, flags, rest) = full(find(content, b"ipma")?)?;
        let mut numbers = Numbers(rest);
        for _ in 0..numbers.take(4)? {
            let id = numbers.take(if version == 0 { 2 } else { 4 })?;
            for _ in 0..numbers.take(1)? {
                let wide = flags & 1 == 1;
                let number = numbers.take(if wide { 2 } else { 1 })?;
                let number = number & if wide { 0x7FFF } else { 0x7F };
                let property = properties.get((number as usize).wrapping_sub(1));
                if let (Some((kind, content)), Some(item)) = (property, self.get(id)) {
                    item.add_property(kind, content);
                }
            }
        }
        Some(())
    }

    /// Reads which items belong together.
    fn refer(&mut self, content: &[u8]) -> Option<()> {
        let (version, _, rest) = full(content)?;
        let id_len = if version == 0 { 2 } else { 4 };
        for (kind, content) in boxes(rest) {
            let mut numbers = Numbers(content);
            let from = numbers.take(id_len)?;
            let count = numbers.take(2)?;
            let to: Vec<u64> = (0..count)
                .map(|_| numbers.take(id_len))
                .collect::<Option<_>>()?;
            let Some(item) = self.get(from) else { continue };
            match &kind {
                b"auxl" => item.belongs_to.extend(to),
                b"prem" => item.premultiplied = true,
                _ => {}
            }
        }
        Some(())
    }
}

/// The items by their list of types.
fn list<'a>(content: &[u8]) -> Option<Vec<Item<'a>>> {
    let (version, _, rest) = full(content)?;
    let entries = rest.get(if version == 0 { 2 } else { 4 }..)?;
    let entry = |(_, content): ([u8; 4], &[u8])| {
        let (version, _, rest) = full(content)?;
        let mut numbers = Numbers(rest);
        let id = numbers.take(if version < 3 { 2 } else { 4 })?;
        let _protection = numbers.take(2)?;
        let kind = *numbers.0.first_chunk()?;
        Some(Item {
            id,
            kind,
            is_xmp: &kind == b"mime" && numbers.0.windows(XMP_TYPE.len()).any(|w| w == XMP_TYPE),
            ..Item::default()
        })
    };
    boxes(entries)
        .filter(|(kind, _)| kind == b"infe")
        .map(entry)
        .collect()
}

impl<'a> Item<'a> {
    fn add_property(&mut self, kind: &[u8; 4], content: &'a [u8]) {
        match (kind, content) {
            (b"irot", [turns, ..]) => self.turns = turns & 3,
            (b"imir", [axis, ..]) => self.mirror = Some(axis & 1),
            (b"clap", _) => self.cropped = true,
            (b"auxC", [_, _, _, _, name @ ..]) => self.is_alpha = name.starts_with(ALPHA),
            (b"colr", [b'n', b'c', b'l', b'x', numbers @ ..]) => self.nclx = nclx(numbers),
            (b"colr", [b'p', b'r', b'o', b'f', profile @ ..])
            | (b"colr", [b'r', b'I', b'C', b'C', profile @ ..]) => self.icc = Some(profile),
            _ => {}
        }
    }
}

fn nclx(content: &[u8]) -> Option<Nclx> {
    let mut numbers = Numbers(content);
    Some(Nclx {
        primaries: numbers.take(2)? as u16,
        transfer: numbers.take(2)? as u16,
        matrix: numbers.take(2)? as u16,
        full_range: numbers.take(1)? & 0x80 != 0,
    })
}
