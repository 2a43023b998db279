// Browser tests: the built UI, a real server, Debian's Chromium. With WEB_SHOTS=1, only pictures are taken.

import { defineConfig } from 'vitest/config';

const wantsShots = process.env['WEB_SHOTS'] === '1';

export default defineConfig({
  test: {
    include: [wantsShots ? 'tests/e2e/screenshots.ts' : 'tests/e2e/**/*.test.ts'],
    environment: 'node',
    // Each file has its own server and browser.
    maxWorkers: 2,
    // For a machine that is ten times slower than a quiet one.
    testTimeout: 600_000,
    hookTimeout: 600_000,
  },
});
