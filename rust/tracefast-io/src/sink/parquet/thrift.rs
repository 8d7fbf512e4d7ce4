//! The compact protocol of Thrift, in which Parquet describes itself: as much of it as is written.

/// What a field or an element of a list is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Kind {
    /// A boolean in a list; as a field it has its value in place of a kind.
    Bool = 2,
    I16 = 4,
    I32 = 5,
    I64 = 6,
    Binary = 8,
    List = 9,
    Struct = 12,
}

/// Appends a struct, whose fields `write` gives in the order of their numbers.
pub(crate) fn structure(out: &mut Vec<u8>, write: impl FnOnce(&mut Fields<'_>)) {
    write(&mut Fields { out, last: 0 });
    out.push(0);
}

/// The fields of a struct that is being written.
pub(crate) struct Fields<'a> {
    out: &'a mut Vec<u8>,
    /// The number of the last field: the next one is written as the distance to it.
    last: u8,
}

impl<'a> Fields<'a> {
    /// Continues a struct, the start of which is in `out`, after the field with number `last`.
    pub(crate) fn after(last: u8, out: &'a mut Vec<u8>) -> Self {
        Self { out, last }
    }

    pub(crate) fn i16(&mut self, number: u8, value: i16) {
        self.begin(number, Kind::I16 as u8);
        zigzag(self.out, value.into());
    }

    pub(crate) fn i32(&mut self, number: u8, value: i32) {
        self.begin(number, Kind::I32 as u8);
        zigzag(self.out, value.into());
    }

    pub(crate) fn i64(&mut self, number: u8, value: i64) {
        self.begin(number, Kind::I64 as u8);
        zigzag(self.out, value);
    }

    pub(crate) fn bool(&mut self, number: u8, value: bool) {
        self.begin(number, if value { 1 } else { 2 });
    }

    pub(crate) fn bytes(&mut self, number: u8, value: &[u8]) {
        self.begin(number, Kind::Binary as u8);
        bytes(self.out, value);
    }

    pub(crate) fn structure(&mut self, number: u8, write: impl FnOnce(&mut Fields<'_>)) {
        self.begin(number, Kind::Struct as u8);
        structure(self.out, write);
    }

    /// A struct that was written before.
    pub(crate) fn whole_structure(&mut self, number: u8, written: &[u8]) {
        self.begin(number, Kind::Struct as u8);
        self.out.extend_from_slice(written);
    }

    /// A list; `write` appends each element.
    pub(crate) fn list<I: ExactSizeIterator>(
        &mut self,
        number: u8,
        kind: Kind,
        elements: I,
        write: impl Fn(&mut Vec<u8>, I::Item),
    ) {
        let out = self.begin_list(number, kind, elements.len());
        for element in elements {
            write(out, element);
        }
    }

    /// A list of `length` elements, which the caller appends to what it gets.
    pub(crate) fn begin_list(&mut self, number: u8, kind: Kind, length: usize) -> &mut Vec<u8> {
        self.begin(number, Kind::List as u8);
        if length < 15 {
            self.out.push(((length as u8) << 4) | kind as u8);
        } else {
            self.out.push(0xf0 | kind as u8);
            varint(self.out, length as u64);
        }
        self.out
    }

    fn begin(&mut self, number: u8, kind: u8) {
        // No struct of Parquet that is written leaves out more than a few numbers.
        debug_assert!((1..16).contains(&number.wrapping_sub(self.last)), "fields out of order");
        self.out.push(((number - self.last) << 4) | kind);
        self.last = number;
    }
}

/// Appends an integer of any width, as an element of a list.
pub(crate) fn zigzag(out: &mut Vec<u8>, value: i64) {
    varint(out, ((value << 1) ^ (value >> 63)) as u64);
}

/// Appends bytes or a text, as an element of a list.
pub(crate) fn bytes(out: &mut Vec<u8>, value: &[u8]) {
    varint(out, value.len() as u64);
    out.extend_from_slice(value);
}

/// Appends a boolean, as an element of a list.
pub(crate) fn bool(out: &mut Vec<u8>, value: bool) {
    out.push(if value { 1 } else { 2 });
}

fn varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values from the specification of the protocol, and computed by hand.
    #[test]
    fn bytes_are_those_of_the_protocol() {
        let mut out = Vec::new();
        for value in [0, -1, 1, -2, 50_399, i64::MIN] {
            zigzag(&mut out, value);
        }
        let least = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01];
        assert_eq!(out[..7], [0, 1, 2, 3, 0xbe, 0x93, 0x06]);
        assert_eq!(out[7..], least);

        out.clear();
        structure(&mut out, |fields| {
            fields.i32(1, -1);
            fields.bool(4, true);
            fields.bytes(5, b"ab");
            fields.list(7, Kind::I64, [2].into_iter(), zigzag);
            fields.structure(8, |inner| inner.bool(2, false));
            fields.list(9, Kind::Bool, [false].into_iter(), bool);
        });
        let expected =
            [0x15, 1, 0x31, 0x18, 2, b'a', b'b', 0x29, 0x16, 4, 0x1c, 0x22, 0, 0x19, 0x12, 2, 0];
        assert_eq!(out, expected);

        out.clear();
        Fields::after(3, &mut out).begin_list(4, Kind::Struct, 300);
        assert_eq!(out, [0x19, 0xfc, 0xac, 0x02]);
    }
}
