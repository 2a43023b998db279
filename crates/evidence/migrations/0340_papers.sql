-- Which documents are a paper: one paper may be here as its record of PubMed and as its full text. A paper id is `pmid:1`,
-- `pmc:PMC1` or `doi:10.1/x`. The id that a document's own id says already (`PMID:1`) has no row.
CREATE TABLE evidence_paper_ids (
    organisation_id TEXT NOT NULL,
    paper_id TEXT NOT NULL,
    document_id TEXT NOT NULL,
    PRIMARY KEY (organisation_id, paper_id, document_id)
);
CREATE INDEX evidence_paper_ids_by_document ON evidence_paper_ids (organisation_id, document_id);

-- Which document says that a paper does not stand. What is said stays until that document is withdrawn.
CREATE TABLE evidence_retractions (
    organisation_id TEXT NOT NULL,
    paper_id TEXT NOT NULL,
    document_id TEXT NOT NULL,
    retraction TEXT NOT NULL,
    PRIMARY KEY (organisation_id, paper_id, document_id)
);
CREATE INDEX evidence_retractions_by_document ON evidence_retractions (organisation_id, document_id);

-- What the record says already. Its JSON is canonical, so the text is always this.
INSERT INTO evidence_retractions (organisation_id, paper_id, document_id, retraction)
    SELECT organisation_id, 'pmid:' || substr(id, 6), id, '{"kind":"retracted"}' FROM evidence_records
    WHERE kind = 'document' AND id LIKE 'PMID:%' AND body LIKE '%"retraction":{"kind":"retracted"%';
INSERT INTO evidence_retractions (organisation_id, paper_id, document_id, retraction)
    SELECT organisation_id, 'pmid:' || substr(id, 6), id, '{"kind":"expression_of_concern"}' FROM evidence_records
    WHERE kind = 'document' AND id LIKE 'PMID:%' AND body LIKE '%"retraction":{"kind":"expression_of_concern"%';
