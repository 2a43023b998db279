// Text to be taken elsewhere: ids, hashes, commands.

import { useState } from 'react';
import { useLanguage } from '../i18n/language.tsx';
import { parts } from '../i18n/messages/parts.ts';
import { Icon } from './icon.tsx';
import { useToast } from './toast.tsx';

const CONFIRMED_FOR_MS = 2_000;

/** `what` completes the sentence «Copy …» for screen readers. `bare`: only the icon, for use inside a line. */
export function CopyButton({ text, what, look = 'worded' }: { text: string; what: string; look?: 'worded' | 'bare' }) {
  const { t } = useLanguage();
  const toast = useToast();
  const [isCopied, setIsCopied] = useState(false);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      setIsCopied(true);
      setTimeout(() => setIsCopied(false), CONFIRMED_FOR_MS);
    } catch {
      toast('bad', t(parts.copyFailed));
    }
  };
  return (
    <button
      type="button"
      className={`copy-button copy-button-${look}`}
      onClick={copy}
      aria-label={t(parts.copyOf, { what })}
      title={t(parts.copyOf, { what })}
    >
      <Icon name={isCopied ? 'check' : 'copy'} />
      <span aria-live="polite" className={look === 'bare' ? 'for-readers' : undefined}>
        {t(isCopied ? parts.copied : parts.copy)}
      </span>
    </button>
  );
}

/** A command or a file, with a button to copy it. */
export function Snippet({ label, text }: { label: string; text: string }) {
  return (
    <figure className="snippet">
      <figcaption>
        <span>{label}</span>
        <CopyButton text={text} what={label} />
      </figcaption>
      {/* Long lines scroll inside; the keyboard must reach them too. */}
      <pre tabIndex={0} role="region" aria-label={label}>
        <code>{text}</code>
      </pre>
    </figure>
  );
}

/** An id: monospaced, never mixed into the direction of the text around it. */
export function Mono({ children }: { children: string | number }) {
  return <bdi className="mono">{children}</bdi>;
}

/** A hash or a key: too long for a line, so it may break anywhere. */
export function Hash({ children }: { children: string }) {
  return <bdi className="mono hash">{children}</bdi>;
}
