// Packs what is built, once and as small as it gets, beside each file: the server only picks what a browser takes.

import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, gzip } from 'node:zlib';
import type { Plugin } from 'vite';

const TEXT = /\.(?:css|html|js|svg)$/;
const PACKERS = { br: promisify(brotliCompress), gz: (text: Buffer) => promisify(gzip)(text, { level: 9 }) };

export function packed(): Plugin {
  let folder = '';
  return {
    name: 'packed',
    apply: 'build',
    configResolved: ({ root, build }) => {
      folder = join(root, build.outDir);
    },
    closeBundle: async () => {
      const files = await readdir(folder, { recursive: true });
      await Promise.all(files.filter((file) => TEXT.test(file)).map((file) => pack(join(folder, file))));
    },
  };
}

/** A file that would not get smaller is sent as it is. */
async function pack(file: string): Promise<void> {
  const text = await readFile(file);
  for (const [ending, packer] of Object.entries(PACKERS)) {
    const small = await packer(text);
    if (small.length < text.length) await writeFile(`${file}.${ending}`, small);
  }
}
