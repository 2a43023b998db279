//! How well a statement was compared with its source, and how far it carries over what things belong to.

/// From the worst to the best.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Checked {
    NotVerified,
    /// The source makes no statement of that.
    Unsaid,
    Verified,
}

impl Checked {
    pub const ALL: [Checked; 3] = [Checked::NotVerified, Checked::Unsaid, Checked::Verified];

    /// Whether what is critical of a class stays critical of a thing that belongs to it by a way that is checked like
    /// this: only if the way is checked as well as the statement.
    pub fn carries(self, statement: Checked) -> bool {
        self >= statement
    }

    /// That two nodes are one thing carries nothing critical unless it is verified: a wrong identity moves all that is said
    /// of a thing, and not only what is said of a class.
    pub fn of_identity(is_verified: bool) -> Checked {
        if is_verified { Checked::Verified } else { Checked::NotVerified }
    }
}

impl From<Option<bool>> for Checked {
    fn from(verified: Option<bool>) -> Checked {
        match verified {
            Some(true) => Checked::Verified,
            None => Checked::Unsaid,
            Some(false) => Checked::NotVerified,
        }
    }
}
