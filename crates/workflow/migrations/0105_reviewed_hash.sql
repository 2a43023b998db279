-- Whether whoever approved named the hash of what they had reviewed. Unknown of approvals before this.
ALTER TABLE artifacts ADD COLUMN names_reviewed_hash BOOLEAN;
