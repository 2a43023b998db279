//! Why a request was not let in.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    NoToken,
    UnknownToken,
    KeyRevoked,
    KeyExpired,
    /// Other hands wrote the row of the key.
    KeyChanged,
    /// The key bears the name of a person whom an issuer signs in, who came later than the key.
    KeyOfPerson,
    /// No JWT that we could read, or one that asks for what we do not do.
    MalformedToken,
    ForbiddenAlgorithm,
    UnknownSigningKey,
    BadSignature,
    WrongIssuer,
    WrongAudience,
    TokenExpired,
    TokenNotYetValid,
    /// Signed and meant for us, but without what we need to know of its holder.
    MissingClaim,
    /// As `MissingClaim`, where the time is missing until which it is valid, or is none.
    NoExpiry,
    /// As `MissingClaim`, where the organisation is missing that the settings ask for, or is none.
    NoOrganisation,
    /// It could not be found out: keys or their issuer are out of reach.
    Unavailable,
}

impl Refusal {
    /// The code in the event.
    pub fn code(self) -> &'static str {
        match self {
            Refusal::NoToken => "NO_TOKEN",
            Refusal::UnknownToken => "UNKNOWN_TOKEN",
            Refusal::KeyRevoked => "KEY_REVOKED",
            Refusal::KeyExpired => "KEY_EXPIRED",
            Refusal::KeyChanged => "KEY_CHANGED",
            Refusal::KeyOfPerson => "KEY_OF_PERSON",
            Refusal::MalformedToken => "MALFORMED_TOKEN",
            Refusal::ForbiddenAlgorithm => "FORBIDDEN_ALGORITHM",
            Refusal::UnknownSigningKey => "UNKNOWN_SIGNING_KEY",
            Refusal::BadSignature => "BAD_SIGNATURE",
            Refusal::WrongIssuer => "WRONG_ISSUER",
            Refusal::WrongAudience => "WRONG_AUDIENCE",
            Refusal::TokenExpired => "TOKEN_EXPIRED",
            Refusal::TokenNotYetValid => "TOKEN_NOT_YET_VALID",
            Refusal::MissingClaim | Refusal::NoExpiry | Refusal::NoOrganisation => "MISSING_CLAIM",
            Refusal::Unavailable => "AUTHENTICATION_UNAVAILABLE",
        }
    }

    /// For the caller. It tells nothing that the caller does not hold in their hand.
    pub fn message(self) -> &'static str {
        match self {
            Refusal::NoToken => "send `Authorization: Bearer …` with a token or an API key",
            // Whether it was the key once, nobody can tell any more.
            Refusal::UnknownToken | Refusal::KeyChanged => "the token is not known",
            Refusal::KeyRevoked => "the key was revoked",
            Refusal::KeyExpired => "the key has expired",
            Refusal::KeyOfPerson => {
                "the key bears the name of a person whom an issuer signs in; have one made with a name of its own"
            }
            Refusal::MalformedToken => "the token is not one that this server reads",
            Refusal::ForbiddenAlgorithm => "the token is signed in a way that this server does not accept",
            Refusal::UnknownSigningKey => "the token is signed with a key that its issuer does not publish",
            Refusal::BadSignature => "the signature of the token does not hold",
            Refusal::WrongIssuer => "the token is of an issuer that this server does not know",
            Refusal::WrongAudience => "the token is meant for somebody else",
            Refusal::TokenExpired => "the token has expired",
            Refusal::TokenNotYetValid => "the token is not valid yet",
            Refusal::MissingClaim => "the token does not say who its holder is (`sub`)",
            Refusal::NoExpiry => "the token does not say until when it is valid (`exp`)",
            Refusal::NoOrganisation => "the token does not say in an accepted form which organisation it is for",
            Refusal::Unavailable => "who you are cannot be checked at the moment, try again",
        }
    }
}
