// Short notices. They are read out, stay long enough to be read, and never carry what cannot be found elsewhere.

import { createContext, type ReactNode, use, useCallback, useMemo, useRef, useState } from 'react';
import { useLanguage } from '../i18n/language.tsx';
import { parts } from '../i18n/messages/parts.ts';
import { IconButton } from './button.tsx';
import { Icon } from './icon.tsx';

const SHOWN_FOR_MS = 6_000;
const SHOWN_MAX = 3;

export type ToastTone = 'ok' | 'bad';

interface Toast {
  id: number;
  tone: ToastTone;
  text: string;
}

const Context = createContext<((tone: ToastTone, text: string) => void) | null>(null);

export function ToastProvider({ children }: { children: ReactNode }) {
  const { t } = useLanguage();
  const [toasts, setToasts] = useState<Toast[]>([]);
  const nextId = useRef(0);
  const dismiss = useCallback((id: number) => setToasts((shown) => shown.filter((toast) => toast.id !== id)), []);
  const show = useCallback(
    (tone: ToastTone, text: string) => {
      const id = nextId.current++;
      setToasts((shown) => [...shown.slice(1 - SHOWN_MAX), { id, tone, text }]);
      setTimeout(() => dismiss(id), SHOWN_FOR_MS);
    },
    [dismiss],
  );
  const value = useMemo(() => show, [show]);
  return (
    <Context value={value}>
      {children}
      <section className="toasts" aria-label={t(parts.notifications)} aria-live="polite">
        {toasts.map((toast) => (
          <div key={toast.id} className={`toast toast-${toast.tone}`}>
            <Icon name={toast.tone === 'ok' ? 'check' : 'warning'} />
            <p>{toast.text}</p>
            <IconButton icon="close" label={t(parts.dismiss)} onClick={() => dismiss(toast.id)} />
          </div>
        ))}
      </section>
    </Context>
  );
}

export function useToast(): (tone: ToastTone, text: string) => void {
  const show = use(Context);
  if (show === null) throw new Error('no ToastProvider above');
  return show;
}
