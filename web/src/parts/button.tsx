// Buttons, and links that look like them.

import type { ButtonHTMLAttributes, ReactNode, Ref } from 'react';
import { Link } from '../router/router.tsx';
import { Icon, type IconName } from './icon.tsx';

export type ButtonLook = 'primary' | 'plain' | 'quiet' | 'danger';

interface Common {
  look?: ButtonLook;
  icon?: IconName;
  children: ReactNode;
}

type ButtonProps = Common &
  ButtonHTMLAttributes<HTMLButtonElement> & {
    /** Something this button started is under way. It stays focusable, so that the keyboard does not lose its place. */
    isBusy?: boolean;
    ref?: Ref<HTMLButtonElement>;
  };

export function Button({ look = 'plain', icon, isBusy = false, children, className, onClick, ...rest }: ButtonProps) {
  return (
    <button
      type="button"
      {...rest}
      className={['button', `button-${look}`, className].filter(Boolean).join(' ')}
      aria-disabled={isBusy || undefined}
      aria-busy={isBusy || undefined}
      onClick={(event) => {
        if (isBusy) event.preventDefault();
        else onClick?.(event);
      }}
    >
      {icon && <Icon name={icon} />}
      <span>{children}</span>
    </button>
  );
}

export function LinkButton({ look = 'plain', icon, to, children }: Common & { to: string }) {
  return (
    <Link to={to} className={`button button-${look}`}>
      {icon && <Icon name={icon} />}
      <span>{children}</span>
    </Link>
  );
}

/** A button that shows only an icon; its words are for screen readers and the tooltip. */
export function IconButton({ icon, label, ...rest }: { icon: IconName; label: string } & ButtonHTMLAttributes<HTMLButtonElement>) {
  return (
    <button type="button" {...rest} className="icon-button" aria-label={label} title={label}>
      <Icon name={icon} />
    </button>
  );
}
