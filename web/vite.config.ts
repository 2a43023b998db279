// Builds `dist`, and serves the sources during development in front of a running server.

import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';
import { packed } from './scripts/packed.ts';

/** The server that `npm run dev` stands in front of. */
const server = process.env['WEB_SERVER'] ?? 'http://127.0.0.1:8787';

/** The server accepts only its own origin; the page of the development server has another. */
const asItself = { target: server, changeOrigin: true, headers: { origin: server } };

export default defineConfig({
  base: '/',
  plugins: [react(), packed()],
  build: {
    outDir: 'dist',
    assetsDir: 'assets',
    // Browsers that verify Ed25519 in WebCrypto; `light-dark()` is older than that in all of them.
    target: ['chrome137', 'firefox129', 'safari18'],
    // The policy allows no `data:` but images; a file of its own is also cached by its hash.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: true,
  },
  server: {
    proxy: { '/api': asItself, '/session': asItself, '/health': asItself, '/metrics': asItself },
  },
});
