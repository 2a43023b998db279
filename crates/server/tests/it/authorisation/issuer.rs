//! An authorization server as this one sees it: three signing keys, published over HTTP, and a record of who asked.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, LazyLock, Mutex};
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use ring::rand::SystemRandom;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair, KeyPair as _, RSA_PKCS1_SHA256, RsaKeyPair,
};
use rsa::pkcs8::{EncodePrivateKey as _, EncodePublicKey as _};
use rsa::traits::PublicKeyParts as _;
use serde_json::{Value, json};

pub const AUDIENCE: &str = "https://materia.example/mcp";

/// The kinds of key that the issuer signs with; each is published under its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Rsa,
    Ec,
    Ed,
}

impl Kind {
    pub const ALL: [Kind; 3] = [Kind::Rsa, Kind::Ec, Kind::Ed];

    pub fn kid(self) -> &'static str {
        match self {
            Kind::Rsa => "rsa",
            Kind::Ec => "ec",
            Kind::Ed => "ed",
        }
    }

    pub fn algorithm(self) -> &'static str {
        match self {
            Kind::Rsa => "RS256",
            Kind::Ec => "ES256",
            Kind::Ed => "EdDSA",
        }
    }
}

/// Keys of one issuer. An RSA key takes a while to make, so the tests share them.
pub struct Keys {
    rsa: RsaKeyPair,
    rsa_modulus: Vec<u8>,
    rsa_exponent: Vec<u8>,
    /// The public key as it is written in files, which an attacker knows as well.
    pub rsa_public_der: Vec<u8>,
    ec: EcdsaKeyPair,
    ed: Ed25519KeyPair,
}

pub static KEYS: LazyLock<Keys> = LazyLock::new(Keys::make);

impl Keys {
    pub fn make() -> Keys {
        let random = SystemRandom::new();
        let rsa = rsa::RsaPrivateKey::new(&mut rsa::rand_core::OsRng, 2048).expect("an RSA key");
        let rsa_der = rsa.to_pkcs8_der().expect("an RSA key has a file form");
        let ec = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &random).expect("an EC key");
        let ed = Ed25519KeyPair::generate_pkcs8(&random).expect("an Ed25519 key");
        Keys {
            rsa_modulus: rsa.n().to_bytes_be(),
            rsa_exponent: rsa.e().to_bytes_be(),
            rsa_public_der: rsa.to_public_key().to_public_key_der().expect("a public key has a file form").into_vec(),
            rsa: RsaKeyPair::from_pkcs8(rsa_der.as_bytes()).expect("the RSA key can sign"),
            ec: EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, ec.as_ref(), &random).expect("an EC key"),
            ed: Ed25519KeyPair::from_pkcs8(ed.as_ref()).expect("an Ed25519 key"),
        }
    }

    pub fn sign(&self, kind: Kind, message: &[u8]) -> Vec<u8> {
        let random = SystemRandom::new();
        match kind {
            Kind::Rsa => {
                let mut signature = vec![0; self.rsa.public().modulus_len()];
                self.rsa.sign(&RSA_PKCS1_SHA256, &random, message, &mut signature).expect("RSA signs");
                signature
            }
            Kind::Ec => self.ec.sign(&random, message).expect("ECDSA signs").as_ref().to_vec(),
            Kind::Ed => self.ed.sign(message).as_ref().to_vec(),
        }
    }

    pub fn jwk(&self, kind: Kind) -> Value {
        match kind {
            Kind::Rsa => json!({
                "kty": "RSA", "use": "sig", "alg": "RS256", "kid": "rsa",
                "n": encoded(&self.rsa_modulus), "e": encoded(&self.rsa_exponent),
            }),
            Kind::Ec => {
                let point = self.ec.public_key().as_ref();
                json!({ "kty": "EC", "crv": "P-256", "kid": "ec", "x": encoded(&point[1..33]), "y": encoded(&point[33..]) })
            }
            Kind::Ed => {
                json!({ "kty": "OKP", "crv": "Ed25519", "kid": "ed", "x": encoded(self.ed.public_key().as_ref()) })
            }
        }
    }

    /// A token with these claims and header members beside the usual ones; `null` takes a usual one away.
    pub fn token(&self, kind: Kind, issuer: &str, header: &Value, claims: &Value) -> String {
        let usual = json!({ "typ": "at+jwt", "alg": kind.algorithm(), "kid": kind.kid() });
        let signed = unsigned(&merged(usual, header), &merged(usual_claims(issuer), claims));
        let signature = encoded(&self.sign(kind, signed.as_bytes()));
        format!("{signed}.{signature}")
    }
}

/// Alice, an author who came through the portal and may take ids.
pub fn usual_claims(issuer: &str) -> Value {
    json!({
        "iss": issuer, "sub": "alice", "aud": AUDIENCE, "client_id": "portal", "roles": ["author"],
        "scope": "openid id.reserve", "iat": now(), "nbf": now() - 5, "exp": now() + 300,
    })
}

pub fn merged(usual: Value, changes: &Value) -> Value {
    let (mut all, changes) = (usual.as_object().expect("an object").clone(), changes.as_object().expect("an object"));
    all.extend(changes.clone());
    all.retain(|_, value| !value.is_null());
    Value::Object(all)
}

/// The part of a token that is signed.
pub fn unsigned(header: &Value, claims: &Value) -> String {
    format!("{}.{}", encoded(header.to_string().as_bytes()), encoded(claims.to_string().as_bytes()))
}

pub fn encoded(bytes: &[u8]) -> String {
    BASE64_URL_SAFE_NO_PAD.encode(bytes)
}

pub fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).expect("the clock is after 1970").as_secs()
}

/// A web server that answers every request alike and remembers what it was sent.
pub struct Web {
    pub url: String,
    requests: Arc<Mutex<Vec<String>>>,
}

impl Web {
    /// `answer` is the whole HTTP answer.
    pub fn start(answer: String) -> Web {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let url = format!("http://{}", listener.local_addr().expect("a bound address"));
        let requests = Arc::new(Mutex::new(Vec::new()));
        let heard = Arc::clone(&requests);
        // Ends with the test process.
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                heard.lock().expect("nobody panics with it").push(exchange(stream, &answer));
            }
        });
        Web { url, requests }
    }

    /// An issuer that publishes these keys.
    pub fn publishing(keys: &Keys) -> Web {
        let published = json!({ "keys": Kind::ALL.map(|kind| keys.jwk(kind)) }).to_string();
        Web::start(ok(&published))
    }

    /// Everything that was sent here.
    pub fn requests(&self) -> Vec<String> {
        self.requests.lock().expect("nobody panics with it").clone()
    }
}

pub fn ok(body: &str) -> String {
    let length = body.len();
    format!(
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}"
    )
}

fn exchange(mut stream: TcpStream, answer: &str) -> String {
    stream.set_read_timeout(Some(Duration::from_secs(2))).expect("a time limit");
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") && stream.read(&mut byte).is_ok_and(|n| n == 1) {
        head.push(byte[0]);
    }
    // A client that has read enough may hang up first.
    stream.write_all(answer.as_bytes()).ok();
    String::from_utf8_lossy(&head).into_owned()
}
