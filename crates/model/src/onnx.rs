//! The part of the ONNX format (a protocol buffer) that describes an encoder. Numbers of fields and types are those of
//! `onnx.proto`, whose lists are not packed.

use prost::Message;

const FLOAT: i32 = 1;
const INT64: i32 = 7;
const ATTRIBUTE_FLOAT: i32 = 1;
const ATTRIBUTE_INT: i32 = 2;
const ATTRIBUTE_INTS: i32 = 7;
/// The first version of the operators with `Gelu` among them.
const OPERATORS: i64 = 20;
const FORMAT: i64 = 9;

#[derive(Clone, PartialEq, Message)]
struct Model {
    #[prost(int64, tag = "1")]
    ir_version: i64,
    #[prost(message, optional, tag = "7")]
    graph: Option<GraphMessage>,
    #[prost(message, repeated, tag = "8")]
    opset_import: Vec<OperatorSet>,
}

#[derive(Clone, PartialEq, Message)]
struct OperatorSet {
    #[prost(int64, tag = "2")]
    version: i64,
}

#[derive(Clone, PartialEq, Message)]
struct GraphMessage {
    #[prost(message, repeated, tag = "1")]
    node: Vec<Node>,
    #[prost(message, repeated, tag = "5")]
    initializer: Vec<Tensor>,
    #[prost(message, repeated, tag = "11")]
    input: Vec<ValueInfo>,
    #[prost(message, repeated, tag = "12")]
    output: Vec<ValueInfo>,
}

#[derive(Clone, PartialEq, Message)]
struct Node {
    #[prost(string, repeated, tag = "1")]
    input: Vec<String>,
    #[prost(string, repeated, tag = "2")]
    output: Vec<String>,
    #[prost(string, tag = "3")]
    name: String,
    #[prost(string, tag = "4")]
    op_type: String,
    #[prost(message, repeated, tag = "5")]
    attribute: Vec<AttributeMessage>,
}

#[derive(Clone, PartialEq, Message)]
struct AttributeMessage {
    #[prost(string, tag = "1")]
    name: String,
    #[prost(float, tag = "2")]
    f: f32,
    #[prost(int64, tag = "3")]
    i: i64,
    #[prost(int64, repeated, packed = "false", tag = "8")]
    ints: Vec<i64>,
    #[prost(int32, tag = "20")]
    kind: i32,
}

#[derive(Clone, PartialEq, Message)]
struct Tensor {
    #[prost(int64, repeated, packed = "false", tag = "1")]
    dims: Vec<i64>,
    #[prost(int32, tag = "2")]
    data_type: i32,
    #[prost(string, tag = "8")]
    name: String,
    #[prost(bytes = "vec", tag = "9")]
    raw_data: Vec<u8>,
}

#[derive(Clone, PartialEq, Message)]
struct ValueInfo {
    #[prost(string, tag = "1")]
    name: String,
}

pub enum Attribute {
    Float(&'static str, f32),
    Int(&'static str, i64),
    Ints(&'static str, Vec<i64>),
}

impl Attribute {
    fn into_message(self) -> AttributeMessage {
        let empty = AttributeMessage::default();
        match self {
            Attribute::Float(name, f) => AttributeMessage { name: name.to_owned(), f, kind: ATTRIBUTE_FLOAT, ..empty },
            Attribute::Int(name, i) => AttributeMessage { name: name.to_owned(), i, kind: ATTRIBUTE_INT, ..empty },
            Attribute::Ints(name, ints) => {
                AttributeMessage { name: name.to_owned(), ints, kind: ATTRIBUTE_INTS, ..empty }
            }
        }
    }
}

/// A graph that grows operator by operator; every value has a name.
#[derive(Default)]
pub struct Graph(GraphMessage);

impl Graph {
    pub fn input(&mut self, name: &str) {
        self.0.input.push(ValueInfo { name: name.to_owned() });
    }

    pub fn output(&mut self, name: &str) {
        self.0.output.push(ValueInfo { name: name.to_owned() });
    }

    pub fn floats(&mut self, name: &str, dims: &[usize], values: &[f32]) -> String {
        let raw_data = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        let dims = dims.iter().map(|dim| i64::try_from(*dim).unwrap_or(i64::MAX)).collect();
        self.0.initializer.push(Tensor { dims, data_type: FLOAT, name: name.to_owned(), raw_data });
        name.to_owned()
    }

    pub fn integers(&mut self, name: &str, values: &[i64]) -> String {
        let raw_data = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        let dims = vec![i64::try_from(values.len()).unwrap_or(i64::MAX)];
        self.0.initializer.push(Tensor { dims, data_type: INT64, name: name.to_owned(), raw_data });
        name.to_owned()
    }

    /// Adds an operator and returns the name of its result.
    pub fn operator(&mut self, op_type: &str, name: String, inputs: &[&str], attributes: Vec<Attribute>) -> String {
        self.0.node.push(Node {
            input: inputs.iter().map(|input| (*input).to_owned()).collect(),
            output: vec![name.clone()],
            name: format!("{name}:{op_type}"),
            op_type: op_type.to_owned(),
            attribute: attributes.into_iter().map(Attribute::into_message).collect(),
        });
        name
    }

    pub fn into_bytes(self) -> Vec<u8> {
        let opset_import = vec![OperatorSet { version: OPERATORS }];
        Model { ir_version: FORMAT, graph: Some(self.0), opset_import }.encode_to_vec()
    }
}
