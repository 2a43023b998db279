// Starts the page.

import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { App } from './app.tsx';
import './styles/tokens.css';
import './styles/base.css';
import './styles/parts.css';
import './styles/shell.css';
import './styles/pages.css';
import './styles/evidence.css';

const root = document.getElementById('root');
if (root === null) throw new Error('no #root in the page');
createRoot(root).render(
  <StrictMode>
    <App />
  </StrictMode>,
);
