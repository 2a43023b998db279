// What evidence points to: documents of the record, and addresses. Only addresses of the web become links.

const PMID = /^PMID:([1-9][0-9]{0,7})$/;
const DOI = /^(?:doi:)?(10\.[0-9]{4,9}\/\S+)$/i;

/** Where the reference can be read outside, or nothing. */
export function addressOf(reference: string): string | undefined {
  const pmid = PMID.exec(reference)?.[1];
  if (pmid !== undefined) return `https://pubmed.ncbi.nlm.nih.gov/${pmid}/`;
  const doi = DOI.exec(reference)?.[1];
  if (doi !== undefined) return `https://doi.org/${encodeURI(doi)}`;
  return isWebAddress(reference) ? reference : undefined;
}

export function isWebAddress(text: string): boolean {
  try {
    return ['https:', 'http:'].includes(new URL(text).protocol);
  } catch {
    return false;
  }
}

/** The id of a document that the record may have. */
export function documentIdOf(reference: string): string | undefined {
  return isWebAddress(reference) || reference.length > 200 ? undefined : reference;
}
