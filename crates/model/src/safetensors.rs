//! The safetensors format: the length of a header, a JSON header with name, type, shape and place of each tensor, bytes.

use std::collections::BTreeMap;
use std::ops::Range;

use serde::Deserialize;
use serde_json::Value;

/// The header of a model with thousands of tensors stays far below.
const HEADER_BYTES_MAX: usize = 16 << 20;

#[derive(Debug, thiserror::Error)]
pub enum TensorError {
    #[error("no safetensors file: the header is cut off or too long")]
    Header,
    #[error("no safetensors file: the header is not JSON of the expected form")]
    Json(#[source] serde_json::Error),
    #[error("no tensor `{0}` in the file")]
    Absent(String),
    #[error("the tensor `{name}` has the shape {received:?}, expected {expected:?}")]
    Shape { name: String, received: Vec<usize>, expected: Vec<usize> },
    #[error("the tensor `{name}` has the type `{dtype}`, expected F32, F16 or BF16")]
    Type { name: String, dtype: String },
    #[error("the bytes of the tensor `{0}` lie outside the file or do not fit its shape")]
    Bytes(String),
}

#[derive(Debug, Deserialize)]
struct Entry {
    dtype: String,
    shape: Vec<usize>,
    data_offsets: [usize; 2],
}

/// A file read whole.
#[derive(Debug)]
pub struct Tensors {
    entries: BTreeMap<String, Entry>,
    bytes: Vec<u8>,
    data: Range<usize>,
    /// Some files put the name of the model before every tensor (`bert.`).
    prefix: &'static str,
}

impl Tensors {
    pub fn parse(bytes: Vec<u8>) -> Result<Tensors, TensorError> {
        let length = bytes.first_chunk::<8>().map(|first| u64::from_le_bytes(*first)).ok_or(TensorError::Header)?;
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        let header = match length {
            0..=HEADER_BYTES_MAX => bytes.get(8..8 + length).ok_or(TensorError::Header)?,
            _ => return Err(TensorError::Header),
        };
        let values: BTreeMap<String, Value> = serde_json::from_slice(header).map_err(TensorError::Json)?;
        let mut entries = BTreeMap::new();
        for (name, value) in values {
            if name != "__metadata__" {
                entries.insert(name, Entry::deserialize(value).map_err(TensorError::Json)?);
            }
        }
        let prefix = if entries.keys().any(|name| name.starts_with("bert.")) { "bert." } else { "" };
        let data = 8 + length..bytes.len();
        Ok(Tensors { entries, bytes, data, prefix })
    }

    /// The numbers of a tensor, of which the shape must be the expected one.
    pub fn floats(&self, name: &str, expected: &[usize]) -> Result<Vec<f32>, TensorError> {
        let full = format!("{}{name}", self.prefix);
        let entry = self.entries.get(&full).ok_or_else(|| TensorError::Absent(full.clone()))?;
        if entry.shape != expected {
            return Err(TensorError::Shape { name: full, received: entry.shape.clone(), expected: expected.to_vec() });
        }
        let [start, end] = entry.data_offsets;
        let bytes = self.bytes.get(self.data.clone()).and_then(|data| data.get(start..end));
        let bytes = bytes.ok_or_else(|| TensorError::Bytes(full.clone()))?;
        let floats: Vec<f32> = match entry.dtype.as_str() {
            "F32" => bytes.as_chunks::<4>().0.iter().map(|chunk| f32::from_le_bytes(*chunk)).collect(),
            "F16" => bytes.as_chunks::<2>().0.iter().map(|chunk| half(u16::from_le_bytes(*chunk))).collect(),
            "BF16" => {
                let widen = |chunk: &[u8; 2]| f32::from_bits(u32::from(u16::from_le_bytes(*chunk)) << 16);
                bytes.as_chunks::<2>().0.iter().map(widen).collect()
            }
            _ => return Err(TensorError::Type { name: full, dtype: entry.dtype.clone() }),
        };
        if floats.len() == expected.iter().product::<usize>() { Ok(floats) } else { Err(TensorError::Bytes(full)) }
    }
}

/// IEEE 754 binary16.
fn half(bits: u16) -> f32 {
    let sign = if bits & 0x8000 == 0 { 1.0 } else { -1.0 };
    let exponent = i32::from((bits >> 10) & 0x1f);
    let fraction = f32::from(bits & 0x3ff) / 1024.0;
    match exponent {
        0 => sign * fraction * 2f32.powi(-14),
        0x1f if fraction == 0.0 => sign * f32::INFINITY,
        0x1f => f32::NAN,
        _ => sign * (1.0 + fraction) * 2f32.powi(exponent - 15),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(header: &str, data: &[u8]) -> Vec<u8> {
        let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
        bytes.extend_from_slice(header.as_bytes());
        bytes.extend_from_slice(data);
        bytes
    }

    #[test]
    fn halves_are_read_as_the_standard_says() {
        assert_eq!([0x3c00, 0xc000, 0x0001, 0x7c00].map(half), [1.0, -2.0, 5.960_464_5e-8, f32::INFINITY]);
    }

    #[test]
    fn tensors_are_found_by_name_and_shape() {
        let header = r#"{"__metadata__":{"format":"pt"},"w":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}"#;
        let tensors = Tensors::parse(file(header, &[0, 0, 128, 63, 0, 0, 0, 64])).unwrap();
        assert_eq!(tensors.floats("w", &[2]).unwrap(), [1.0, 2.0]);
        assert!(matches!(tensors.floats("w", &[3]), Err(TensorError::Shape { .. })));
        assert!(matches!(tensors.floats("v", &[2]), Err(TensorError::Absent(_))));
    }

    #[test]
    fn a_broken_file_is_refused() {
        let beyond = r#"{"w":{"dtype":"F32","shape":[2],"data_offsets":[0,80]}}"#;
        let tensors = Tensors::parse(file(beyond, &[0; 8])).unwrap();
        assert!(matches!(tensors.floats("w", &[2]), Err(TensorError::Bytes(_))));
        assert!(matches!(Tensors::parse(vec![255; 9]), Err(TensorError::Header)));
        assert!(matches!(Tensors::parse(file("{", &[])), Err(TensorError::Json(_))));
    }
}
