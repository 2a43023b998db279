// An input of a task. Opened, it shows the document where it stands.

import { useId, useState } from 'react';
import { useQuery } from '../../api/query.ts';
import { useClient } from '../../api/session.tsx';
import { useLanguage } from '../../i18n/language.tsx';
import { tasks as words } from '../../i18n/messages/tasks.ts';
import { parseStored } from '../../markdown/address.ts';
import { Icon } from '../../parts/icon.tsx';
import { Markdown } from '../../parts/markdown.tsx';
import { ErrorState, Loading, WhenServed } from '../../parts/states.tsx';
import { Link } from '../../router/router.tsx';
import { pathOfDocument } from '../../router/routes.ts';
import type { TaskInput } from './tasks.ts';

export function InputDocument({ input }: { input: TaskInput }) {
  const { t } = useLanguage();
  const id = useId();
  const [isOpen, setIsOpen] = useState(false);
  const name = parseStored(input.mcp_resource_uri)?.id ?? input.artifact_id;
  return (
    <div className="disclosure">
      <button type="button" className="disclosure-button" aria-expanded={isOpen} aria-controls={id} onClick={() => setIsOpen(!isOpen)}>
        <Icon name="chevron" />
        <span className="disclosure-words">
          <strong className="mono">{name}</strong>
          <span className="quiet">
            {input.name} · {t(words.classes[input.classification])} · {t(words.statusThen, { status: input.status })}
          </span>
        </span>
      </button>
      <div id={id} hidden={!isOpen} className="disclosure-body">
        {isOpen && (
          <WhenServed operation="read_artifact">
            <Opened input={input} />
          </WhenServed>
        )}
      </div>
    </div>
  );
}

function Opened({ input }: { input: TaskInput }) {
  const { t } = useLanguage();
  const client = useClient();
  const uri = input.mcp_resource_uri;
  const read = useQuery(uri, (signal) => client.call('read_artifact', { resource_uri: uri }, { signal }));
  const address = parseStored(uri);
  if (read.is === 'failed') return <ErrorState error={read.error} onRetry={read.reload} />;
  if (read.data === undefined) return <Loading />;
  return (
    <>
      {address && (
        <p>
          <Link to={pathOfDocument(address)}>{t(words.asPage)}</Link>
        </p>
      )}
      <div className="disclosure-text" tabIndex={0} role="group" aria-label={t(words.textOf, { document: read.data.artifact.id })}>
        <Markdown text={read.data.content} />
      </div>
    </>
  );
}
