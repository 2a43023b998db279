// Debian's Chromium, and pages that notice everything that should not happen.

import { existsSync } from 'node:fs';
import { AxeBuilder } from '@axe-core/playwright';
import { type Browser, type BrowserContextOptions, chromium, type Locator, type Page } from 'playwright-core';
import type { Language } from '../../src/i18n/message.ts';

/** A crowded machine may be ten times slower than a quiet one; only a page that hangs should fail. */
const PATIENCE_MS = 120_000;

const EXECUTABLE = process.env['CHROMIUM'] ?? '/usr/bin/chromium';

export async function startBrowser(): Promise<Browser> {
  if (!existsSync(EXECUTABLE)) {
    throw new Error(`no browser at ${EXECUTABLE}: apt-get install -y chromium, or set CHROMIUM`);
  }
  return chromium.launch({
    executablePath: EXECUTABLE,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  });
}

export type Look = { language: Language; theme: 'light' | 'dark'; width?: number; height?: number };

export const WIDE: Look = { language: 'en', theme: 'light' };

export interface Watched {
  page: Page;
  /** Console errors, exceptions and violations of the policy, in order. */
  troubles: string[];
  close: () => Promise<void>;
}

export async function openPage(browser: Browser, url: string, look: Look, options: BrowserContextOptions = {}): Promise<Watched> {
  const context = await browser.newContext({
    baseURL: url,
    colorScheme: look.theme,
    locale: look.language === 'th' ? 'th-TH' : 'en-GB',
    timezoneId: 'Asia/Bangkok',
    viewport: { width: look.width ?? 1280, height: look.height ?? 900 },
    reducedMotion: 'reduce',
    ...options,
  });
  const page = await context.newPage();
  page.setDefaultTimeout(PATIENCE_MS);
  const troubles: string[] = [];
  page.on('console', (message) => {
    // What a driver of the machine has to say about speed is no trouble of the page.
    if (message.text().includes('GL Driver Message')) return;
    if (message.type() === 'error' || message.type() === 'warning') troubles.push(`console: ${message.text()}`);
  });
  page.on('pageerror', (error) => troubles.push(`exception: ${error.message}`));
  await page.exposeFunction('noteViolation', (text: string) => troubles.push(`policy: ${text}`));
  await page.addInitScript(() => {
    addEventListener('securitypolicyviolation', (event) => {
      const note = (globalThis as unknown as { noteViolation: (text: string) => void }).noteViolation;
      note(`${event.violatedDirective} ${event.blockedURI}`);
    });
  });
  return { page, troubles, close: () => context.close() };
}

/** Opens the start URL and waits until the page knows who it is. */
export async function signIn(page: Page, token: string, path = '/'): Promise<void> {
  await page.goto(`${path}#token=${token}`);
  await page.locator('.rail-actor').waitFor({ state: 'attached' });
}

/** The page is drawn and nothing on it is loading any more. */
export async function settled(page: Page): Promise<void> {
  await page.locator('h1').waitFor();
  await page.waitForFunction(() => document.querySelector('.progress, [aria-busy=true]') === null);
}

/** Changes the theme, and waits until it is on the screen. */
export async function setTheme(page: Page, colorScheme: 'light' | 'dark'): Promise<void> {
  await page.emulateMedia({ colorScheme });
  await drawn(page);
}

/** Changes the size of the window, and waits until the page has taken its place in it. */
export async function setSize(page: Page, width: number, height: number): Promise<void> {
  await page.setViewportSize({ width, height });
  await drawn(page);
}

async function drawn(page: Page): Promise<void> {
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
}

/** Whether this element has the focus, once the page has drawn what was done last. */
export async function hasFocus(page: Page, element: Locator): Promise<boolean> {
  await drawn(page);
  return element.evaluate((one) => one === document.activeElement);
}

/** What axe-core finds at serious or critical level, as readable lines. */
export async function seriousFindings(page: Page, rules: 'all' | 'colours' = 'all'): Promise<string[]> {
  // The other mode opens one more page for each look, for the sake of frames, and there are none.
  const builder = new AxeBuilder({ page }).options({ resultTypes: ['violations'] }).setLegacyMode();
  const { violations } = await (rules === 'all' ? builder : builder.withRules(['color-contrast'])).analyze();
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) => nodes.map((node) => `${id}: ${node.html} (${node.failureSummary ?? ''})`));
}

/** Pixels by which the page is wider than its window. */
export async function overflow(page: Page): Promise<number> {
  return page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
}
