// The SHA-256 of a text, computed here: an approval is bound to what the reader saw, not to what the server says.

import { useEffect, useState } from 'react';

/** Lower-case hex; `null` where the browser gives pages no digests (outside of secure contexts). */
export async function digestOf(text: string): Promise<string | null> {
  const subtle = globalThis.crypto?.subtle;
  if (subtle === undefined) return null;
  const bytes = new Uint8Array(await subtle.digest('SHA-256', new TextEncoder().encode(text)));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** `null` until it is known, or where it cannot be. */
export function useDigest(text: string): string | null {
  const [known, setKnown] = useState<{ text: string; digest: string | null }>();
  useEffect(() => {
    let isWanted = true;
    void digestOf(text).then((digest) => {
      if (isWanted) setKnown({ text, digest });
    });
    return () => {
      isWanted = false;
    };
  }, [text]);
  return known?.text === text ? known.digest : null;
}
