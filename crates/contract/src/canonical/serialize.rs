//! Writes any type as RFC 8785 wants it, without a tree of values in between: fields are written as they come and put in
//! order afterwards, where they are not already.

use serde::ser::{
    self, Error as _, Serialize, SerializeMap, SerializeSeq, SerializeStruct, SerializeStructVariant, SerializeTuple,
    SerializeTupleStruct, SerializeTupleVariant,
};
use serde_json::{Error, Number, Value};

use super::write::{number, order, string};

pub(super) struct Writer<'o>(pub &'o mut String);

type Done = Result<(), Error>;

macro_rules! integers {
    ($($method:ident $type:ty),*) => { $(
        fn $method(self, it: $type) -> Done {
            number(self.0, &Number::from(it));
            Ok(())
        }
    )* };
}

impl<'o> ser::Serializer for Writer<'o> {
    type Ok = ();
    type Error = Error;
    type SerializeSeq = Items<'o>;
    type SerializeTuple = Items<'o>;
    type SerializeTupleStruct = Items<'o>;
    type SerializeTupleVariant = Items<'o>;
    type SerializeMap = Members<'o>;
    type SerializeStruct = Members<'o>;
    type SerializeStructVariant = Members<'o>;

    fn serialize_bool(self, it: bool) -> Done {
        self.0.push_str(if it { "true" } else { "false" });
        Ok(())
    }

    integers!(
        serialize_i8 i8, serialize_i16 i16, serialize_i32 i32, serialize_i64 i64,
        serialize_u8 u8, serialize_u16 u16, serialize_u32 u32, serialize_u64 u64
    );

    fn serialize_i128(self, it: i128) -> Done {
        number(self.0, &Number::from_i128(it).ok_or_else(|| Error::custom("number out of range"))?);
        Ok(())
    }

    fn serialize_u128(self, it: u128) -> Done {
        number(self.0, &Number::from_u128(it).ok_or_else(|| Error::custom("number out of range"))?);
        Ok(())
    }

    fn serialize_f32(self, it: f32) -> Done {
        self.serialize_f64(it.into())
    }

    fn serialize_f64(self, it: f64) -> Done {
        match Number::from_f64(it) {
            Some(finite) => number(self.0, &finite),
            None => self.0.push_str("null"),
        }
        Ok(())
    }

    fn serialize_char(self, it: char) -> Done {
        string(self.0, it.encode_utf8(&mut [0; 4]));
        Ok(())
    }

    fn serialize_str(self, it: &str) -> Done {
        string(self.0, it);
        Ok(())
    }

    fn serialize_bytes(self, it: &[u8]) -> Done {
        let mut items = self.serialize_seq(Some(it.len()))?;
        it.iter().try_for_each(|byte| items.add(byte))?;
        SerializeSeq::end(items)
    }

    fn serialize_none(self) -> Done {
        self.serialize_unit()
    }

    fn serialize_some<T: Serialize + ?Sized>(self, it: &T) -> Done {
        it.serialize(self)
    }

    fn serialize_unit(self) -> Done {
        self.0.push_str("null");
        Ok(())
    }

    fn serialize_unit_struct(self, _name: &'static str) -> Done {
        self.serialize_unit()
    }

    fn serialize_unit_variant(self, _name: &'static str, _index: u32, variant: &'static str) -> Done {
        self.serialize_str(variant)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _name: &'static str, it: &T) -> Done {
        it.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        it: &T,
    ) -> Done {
        begin_variant(self.0, variant);
        it.serialize(Writer(&mut *self.0))?;
        self.0.push('}');
        Ok(())
    }

    fn serialize_seq(self, _len: Option<usize>) -> Result<Items<'o>, Error> {
        self.0.push('[');
        Ok(Items { out: self.0, is_first: true, is_variant: false })
    }

    fn serialize_tuple(self, len: usize) -> Result<Items<'o>, Error> {
        self.serialize_seq(Some(len))
    }

    fn serialize_tuple_struct(self, _name: &'static str, len: usize) -> Result<Items<'o>, Error> {
        self.serialize_seq(Some(len))
    }

    fn serialize_tuple_variant(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        _len: usize,
    ) -> Result<Items<'o>, Error> {
        begin_variant(self.0, variant);
        self.0.push('[');
        Ok(Items { out: self.0, is_first: true, is_variant: true })
    }

    fn serialize_map(self, len: Option<usize>) -> Result<Members<'o>, Error> {
        Ok(Members::begin(self.0, len.unwrap_or_default(), false))
    }

    fn serialize_struct(self, _name: &'static str, len: usize) -> Result<Members<'o>, Error> {
        Ok(Members::begin(self.0, len, false))
    }

    fn serialize_struct_variant(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        len: usize,
    ) -> Result<Members<'o>, Error> {
        begin_variant(self.0, variant);
        Ok(Members::begin(self.0, len, true))
    }
}

fn begin_variant(out: &mut String, variant: &str) {
    out.push('{');
    string(out, variant);
    out.push(':');
}

pub(super) struct Items<'o> {
    out: &'o mut String,
    is_first: bool,
    is_variant: bool,
}

impl Items<'_> {
    fn add<T: Serialize + ?Sized>(&mut self, item: &T) -> Done {
        if !std::mem::take(&mut self.is_first) {
            self.out.push(',');
        }
        item.serialize(Writer(self.out))
    }

    fn close(self) {
        self.out.push_str(if self.is_variant { "]}" } else { "]" });
    }
}

/// The library has a trait for each way to write the same list.
macro_rules! items {
    ($($trait:ident $method:ident),*) => { $(
        impl $trait for Items<'_> {
            type Ok = ();
            type Error = Error;

            fn $method<T: Serialize + ?Sized>(&mut self, item: &T) -> Done {
                self.add(item)
            }

            fn end(self) -> Done {
                self.close();
                Ok(())
            }
        }
    )* };
}

items!(
    SerializeSeq serialize_element,
    SerializeTuple serialize_element,
    SerializeTupleStruct serialize_field,
    SerializeTupleVariant serialize_field
);

/// One object on its way.
pub(super) struct Members<'o> {
    out: &'o mut String,
    begins_at: usize,
    written: Vec<Member>,
    is_variant: bool,
}

/// A member that was written: its name, and where it stands.
struct Member {
    name: Name,
    from: usize,
    to: usize,
}

enum Name {
    Field(&'static str),
    Key(String),
}

impl Name {
    fn text(&self) -> &str {
        match self {
            Name::Field(text) => text,
            Name::Key(text) => text,
        }
    }
}

impl<'o> Members<'o> {
    fn begin(out: &'o mut String, n_expected: usize, is_variant: bool) -> Members<'o> {
        let begins_at = out.len();
        out.push('{');
        Members { out, begins_at, written: Vec::with_capacity(n_expected), is_variant }
    }

    fn name(&mut self, name: Name) {
        if !self.written.is_empty() {
            self.out.push(',');
        }
        let from = self.out.len();
        string(self.out, name.text());
        self.out.push(':');
        self.written.push(Member { name, from, to: from });
    }

    fn value<T: Serialize + ?Sized>(&mut self, value: &T) -> Done {
        value.serialize(Writer(self.out))?;
        if let Some(member) = self.written.last_mut() {
            member.to = self.out.len();
        }
        Ok(())
    }

    fn close(mut self) {
        let is_sorted = self.written.is_sorted_by(|a, b| order(a.name.text(), b.name.text()).is_lt());
        if !is_sorted {
            self.sort();
        }
        self.out.push_str(if self.is_variant { "}}" } else { "}" });
    }

    /// Of two members with one name the later one counts, as in a map.
    fn sort(&mut self) {
        self.written.sort_by(|a, b| order(a.name.text(), b.name.text()).then(b.from.cmp(&a.from)));
        self.written.dedup_by(|later, kept| later.name.text() == kept.name.text());
        let mut sorted = String::with_capacity(self.out.len() - self.begins_at);
        for (i, member) in self.written.iter().enumerate() {
            sorted.push(if i == 0 { '{' } else { ',' });
            sorted.push_str(self.out.get(member.from..member.to).unwrap_or_default());
        }
        self.out.truncate(self.begins_at);
        self.out.push_str(&sorted);
    }
}

impl SerializeMap for Members<'_> {
    type Ok = ();
    type Error = Error;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Done {
        self.name(Name::Key(key_text(key)?));
        Ok(())
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Done {
        self.value(value)
    }

    fn end(self) -> Done {
        self.close();
        Ok(())
    }
}

impl SerializeStruct for Members<'_> {
    type Ok = ();
    type Error = Error;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, name: &'static str, value: &T) -> Done {
        self.name(Name::Field(name));
        self.value(value)
    }

    fn end(self) -> Done {
        self.close();
        Ok(())
    }
}

impl SerializeStructVariant for Members<'_> {
    type Ok = ();
    type Error = Error;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, name: &'static str, value: &T) -> Done {
        SerializeStruct::serialize_field(self, name, value)
    }

    fn end(self) -> Done {
        SerializeStruct::end(self)
    }
}

/// The name of a map's member: text, or what is written as one word.
fn key_text<T: Serialize + ?Sized>(key: &T) -> Result<String, Error> {
    match serde_json::to_value(key)? {
        Value::String(text) => Ok(text),
        Value::Bool(it) => Ok(it.to_string()),
        Value::Number(it) if !it.is_f64() => Ok(it.to_string()),
        Value::Number(_) | Value::Null | Value::Array(_) | Value::Object(_) => {
            Err(Error::custom("the name of a member must be text"))
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, HashMap};

    use super::super::{text, text_of};
    use proptest::prelude::*;

    #[derive(serde::Serialize)]
    struct Unsorted {
        z: i64,
        #[serde(skip_serializing_if = "Option::is_none")]
        b: Option<Box<Unsorted>>,
        #[serde(flatten)]
        more: BTreeMap<String, f64>,
        a: (u8, char, ()),
        kinds: Vec<Kind>,
        by_number: HashMap<u64, bool>,
    }

    #[derive(Clone, Debug, serde::Serialize)]
    enum Kind {
        Unit,
        Wrapped(String),
        Pair(f32, u64),
        Named { second: i128, first: Option<bool> },
        Bytes(std::ffi::CString),
    }

    fn any_kind() -> impl Strategy<Value = Kind> {
        prop_oneof![
            Just(Kind::Unit),
            any::<String>().prop_map(Kind::Wrapped),
            (any::<f32>(), any::<u64>()).prop_map(|(one, two)| Kind::Pair(one, two)),
            (any::<i64>(), any::<Option<bool>>())
                .prop_map(|(second, first)| Kind::Named { second: second.into(), first }),
            prop::collection::vec(1_u8.., 0..4)
                .prop_map(|bytes| Kind::Bytes(std::ffi::CString::new(bytes).unwrap_or_default())),
        ]
    }

    proptest! {
        #[test]
        fn a_type_is_written_as_its_value_is(
            z in any::<i64>(),
            // Names that are also those of fields, of which the later one counts.
            more in prop::collection::btree_map("[a-z]{1,2}|\\PC{0,3}|kinds", any::<f64>(), 0..6),
            kinds in prop::collection::vec(any_kind(), 0..5),
            by_number in prop::collection::hash_map(any::<u64>(), any::<bool>(), 0..5),
            letter in any::<char>(),
        ) {
            let inner = Unsorted {
                z: 1, b: None, more: BTreeMap::new(), a: (1, 'x', ()), kinds: Vec::new(), by_number: HashMap::new(),
            };
            let it = Unsorted { z, b: Some(Box::new(inner)), more, a: (7, letter, ()), kinds, by_number };
            prop_assert_eq!(text(&it).unwrap(), text_of(&serde_json::to_value(&it).unwrap()));
        }
    }

    #[test]
    fn a_name_that_is_no_text_is_refused() {
        assert!(text(&HashMap::from([((1, 2), 3)])).is_err());
        assert!(text(&u128::MAX).is_err());
    }
}
