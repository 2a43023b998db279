// What a page shows when there is nothing, not yet anything, or a failure.

import type { ReactNode } from 'react';
import type { CallError, OperationName } from '../api/client.ts';
import { useIsServed } from '../api/session.tsx';
import { Text, useLanguage } from '../i18n/language.tsx';
import { errors, parts } from '../i18n/messages/parts.ts';
import { Link } from '../router/router.tsx';
import { pathOf } from '../router/routes.ts';
import { Button } from './button.tsx';
import { CopyButton, Mono } from './copy.tsx';
import { Icon, type IconName } from './icon.tsx';
import { Facts, PageHead } from './page.tsx';
import { Progress } from './progress.tsx';

export function EmptyState({ icon, title, children, actions }: { icon: IconName; title: string; children?: ReactNode; actions?: ReactNode }) {
  return (
    <div className="empty">
      <Icon name={icon} />
      <h3>{title}</h3>
      {children && <div className="empty-body">{children}</div>}
      {actions && <div className="empty-actions">{actions}</div>}
    </div>
  );
}

export function Loading() {
  const { t } = useLanguage();
  return <Progress label={t(parts.loading)} />;
}

/** For pages whose operation this server does not have. */
export function NotServed({ operation }: { operation: OperationName | (string & {}) }) {
  const { t } = useLanguage();
  return (
    <EmptyState icon="clock" title={t(parts.notServedTitle)}>
      <p>
        <Text of={parts.notServedBody} values={{ operation: <code>{operation}</code> }} />
      </p>
    </EmptyState>
  );
}

/** Shows its children only when the server has the operation they need. A whole page is given a title for the other case. */
export function WhenServed({ operation, title, children }: { operation: OperationName; title?: string; children: ReactNode }) {
  if (useIsServed(operation)) return children;
  return (
    <>
      {title !== undefined && <PageHead title={title} />}
      <NotServed operation={operation} />
    </>
  );
}

function wordsOf(code: string) {
  return Object.hasOwn(errors, code) ? errors[code as keyof typeof errors] : errors.INTERNAL;
}

export function ErrorState({ error, onRetry }: { error: CallError; onRetry?: (() => void) | undefined }) {
  const { t } = useLanguage();
  const hasAudit = useIsServed('audit_search');
  const words = wordsOf(error.code);
  const { field, expected, scope } = error.details;
  const id = error.callId ?? error.reference;
  return (
    <div className="error" role="alert">
      <Icon name="warning" />
      <div className="error-body">
        <h3>{t(words.title)}</h3>
        <p>
          {t(words.advice)}
          {error.retryAfterSeconds !== undefined && ` ${t(parts.retryAfter, { seconds: error.retryAfterSeconds })}`}
        </p>
        <Facts
          facts={[
            { label: t(parts.code), value: <Mono>{error.code}</Mono> },
            error.status === 0
              ? null
              : {
                  label: t(parts.serverSays),
                  value: (
                    <bdi lang="en" className="error-words">
                      {error.message}
                    </bdi>
                  ),
                },
            typeof field === 'string' ? { label: t(parts.field), value: <Mono>{field}</Mono> } : null,
            typeof expected === 'string' ? { label: t(parts.expected), value: <bdi lang="en">{expected}</bdi> } : null,
            typeof scope === 'string' ? { label: t(parts.scope), value: <Mono>{scope}</Mono> } : null,
            id === undefined
              ? null
              : {
                  label: t(error.callId ? parts.callId : parts.reference),
                  value: (
                    <span className="with-copy">
                      <Mono>{id}</Mono>
                      <CopyButton text={id} what={t(error.callId ? parts.callId : parts.reference)} look="bare" />
                    </span>
                  ),
                },
          ]}
        />
        <div className="error-actions">
          {onRetry && (
            <Button look="plain" onClick={onRetry}>
              {t(parts.tryAgain)}
            </Button>
          )}
          {id !== undefined && hasAudit && error.status !== 0 && (
            <Link to={`${pathOf({ page: 'audit' })}?id=${encodeURIComponent(id)}`}>{t(parts.findCall)}</Link>
          )}
        </div>
      </div>
    </div>
  );
}
