// Modal dialogs. The browser's own element keeps the focus inside and gives it back.

import { type ReactNode, useId, useLayoutEffect, useRef } from 'react';
import { useLanguage } from '../i18n/language.tsx';
import { parts } from '../i18n/messages/parts.ts';
import { IconButton } from './button.tsx';

interface DialogProps {
  title: string;
  onClose: () => void;
  children: ReactNode;
  /** The buttons at the end. */
  actions?: ReactNode;
  /** Escape and the cross do not close it: what it shows cannot be shown again. */
  mustAnswer?: boolean;
  /** `wide` for texts that are to be read. */
  size?: 'usual' | 'wide';
}

/** Open as long as it is rendered. */
export function Dialog({ title, onClose, children, actions, mustAnswer = false, size = 'usual' }: DialogProps) {
  const { t } = useLanguage();
  const element = useRef<HTMLDialogElement>(null);
  const heading = useId();
  // Before it leaves the page: an element that is no longer in it closes without giving the focus back.
  useLayoutEffect(() => {
    const dialog = element.current;
    if (dialog && !dialog.open) dialog.showModal();
    return () => dialog?.close();
  }, []);
  return (
    <dialog
      ref={element}
      className={size === 'wide' ? 'dialog dialog-wide' : 'dialog'}
      aria-labelledby={heading}
      onCancel={(event) => {
        event.preventDefault();
        if (!mustAnswer) onClose();
      }}
    >
      <header className="dialog-head">
        <h2 id={heading}>{title}</h2>
        {!mustAnswer && <IconButton icon="close" label={t(parts.close)} onClick={onClose} />}
      </header>
      <div className="dialog-body">{children}</div>
      {actions && <footer className="dialog-foot">{actions}</footer>}
    </dialog>
  );
}
