//! Signature checks by `ring`, for the JWT library. There is no code here to sign, and none for shared secrets: a token
//! that claims `HS256` cannot be checked with a public key, because nothing would check it.

use jsonwebtoken::crypto::{CryptoProvider, JwtVerifier, KeyUtils};
use jsonwebtoken::errors::{Error, ErrorKind};
use jsonwebtoken::signature::{self, Verifier};
use jsonwebtoken::{Algorithm, DecodingKey, DecodingKeyKind};
use ring::signature::{
    ECDSA_P256_SHA256_FIXED, ECDSA_P384_SHA384_FIXED, ED25519, RSA_PKCS1_2048_8192_SHA256, RSA_PKCS1_2048_8192_SHA384,
    RSA_PKCS1_2048_8192_SHA512, RSA_PSS_2048_8192_SHA256, RSA_PSS_2048_8192_SHA384, RSA_PSS_2048_8192_SHA512,
    RsaParameters, RsaPublicKeyComponents, UnparsedPublicKey, VerificationAlgorithm,
};

static PROVIDER: CryptoProvider = CryptoProvider {
    signer_factory: |_, _| Err(ErrorKind::UnsupportedAlgorithm.into()),
    verifier_factory: |algorithm, key| Ok(Box::new(Check::new(*algorithm, key)?)),
    key_utils: KeyUtils::new_unimplemented(),
};

/// Makes the library use these checks, for the whole process. A second call changes nothing.
pub fn install() {
    // Refused only where it was done before.
    PROVIDER.install_default().ok();
}

struct Check {
    algorithm: Algorithm,
    method: Method,
    key: DecodingKeyKind,
}

#[derive(Clone, Copy)]
enum Method {
    Rsa(&'static RsaParameters),
    Plain(&'static dyn VerificationAlgorithm),
}

impl Check {
    fn new(algorithm: Algorithm, key: &DecodingKey) -> Result<Check, Error> {
        if algorithm.family() != key.family() {
            return Err(ErrorKind::InvalidAlgorithm.into());
        }
        let method = match algorithm {
            Algorithm::RS256 => Method::Rsa(&RSA_PKCS1_2048_8192_SHA256),
            Algorithm::RS384 => Method::Rsa(&RSA_PKCS1_2048_8192_SHA384),
            Algorithm::RS512 => Method::Rsa(&RSA_PKCS1_2048_8192_SHA512),
            Algorithm::PS256 => Method::Rsa(&RSA_PSS_2048_8192_SHA256),
            Algorithm::PS384 => Method::Rsa(&RSA_PSS_2048_8192_SHA384),
            Algorithm::PS512 => Method::Rsa(&RSA_PSS_2048_8192_SHA512),
            Algorithm::ES256 => Method::Plain(&ECDSA_P256_SHA256_FIXED),
            Algorithm::ES384 => Method::Plain(&ECDSA_P384_SHA384_FIXED),
            Algorithm::EdDSA => Method::Plain(&ED25519),
            _ => return Err(ErrorKind::UnsupportedAlgorithm.into()),
        };
        Ok(Check { algorithm, method, key: key.kind().clone() })
    }
}

impl Verifier<Vec<u8>> for Check {
    fn verify(&self, message: &[u8], signature: &Vec<u8>) -> Result<(), signature::Error> {
        let checked = match (self.method, &self.key) {
            (Method::Rsa(parameters), DecodingKeyKind::RsaModulusExponent { n, e }) => {
                RsaPublicKeyComponents { n, e }.verify(parameters, message, signature)
            }
            (Method::Plain(method), DecodingKeyKind::SecretOrDer(key)) => {
                UnparsedPublicKey::new(method, key).verify(message, signature)
            }
            (Method::Rsa(_) | Method::Plain(_), _) => return Err(signature::Error::new()),
        };
        checked.map_err(|_| signature::Error::new())
    }
}

impl JwtVerifier for Check {
    fn algorithm(&self) -> Algorithm {
        self.algorithm
    }
}
