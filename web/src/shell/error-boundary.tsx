// Catches what a page throws while it is drawn, so that the rest of the frame stays usable.

import { Component, type ErrorInfo, type ReactNode } from 'react';
import { useLanguage } from '../i18n/language.tsx';
import { shell } from '../i18n/messages/shell.ts';
import { Button } from '../parts/button.tsx';
import { EmptyState } from '../parts/states.tsx';

interface Props {
  /** Another key, another try: moving to another page leaves the broken one behind. */
  resetKey: string;
  children: ReactNode;
}

export class ErrorBoundary extends Component<Props, { isBroken: boolean }> {
  override state = { isBroken: false };

  static getDerivedStateFromError() {
    return { isBroken: true };
  }

  override componentDidCatch(error: unknown, info: ErrorInfo) {
    console.error(error, info.componentStack);
  }

  override componentDidUpdate(before: Props) {
    if (this.state.isBroken && before.resetKey !== this.props.resetKey) this.setState({ isBroken: false });
  }

  override render() {
    return this.state.isBroken ? <Broken /> : this.props.children;
  }
}

function Broken() {
  const { t } = useLanguage();
  return (
    <EmptyState
      icon="warning"
      title={t(shell.brokenTitle)}
      actions={
        <Button look="primary" onClick={() => location.reload()}>
          {t(shell.reload)}
        </Button>
      }
    >
      <p>{t(shell.brokenBody)}</p>
    </EmptyState>
  );
}
