// All herbs of the record.

import { useState } from 'react';
import { usePages } from '../../api/pages.ts';
import { useClient } from '../../api/session.tsx';
import { nameIn } from '../../evidence/record.ts';
import { Text, useLanguage } from '../../i18n/language.tsx';
import { herbs as words } from '../../i18n/messages/herbs.ts';
import { Button } from '../../parts/button.tsx';
import { TextField } from '../../parts/field.tsx';
import { Badge, PageHead } from '../../parts/page.tsx';
import { EmptyState, ErrorState, Loading, WhenServed } from '../../parts/states.tsx';
import { Link } from '../../router/router.tsx';
import { pathOf } from '../../router/routes.ts';
import { SEARCH_FIELD } from '../../shell/shortcuts.tsx';
import { inOrder, isNamed, type ListedHerb, readHerbs } from './herbs.ts';

export function HerbsPage() {
  const { t } = useLanguage();
  return (
    <WhenServed operation="read_records" title={t(words.title)}>
      <HerbList />
    </WhenServed>
  );
}

function HerbList() {
  const { t, tn, language } = useLanguage();
  const client = useClient();
  const list = usePages('herbs', (cursor, signal) => readHerbs(client, cursor, signal));
  const [word, setWord] = useState('');
  const all = inOrder(list.items ?? [], (names, id) => nameIn(language, names, id), language);
  const shown = all.filter((herb) => isNamed(herb, word));
  return (
    <>
      <PageHead title={t(words.title)} lead={t(words.lead)} />
      {list.error && <ErrorState error={list.error} onRetry={list.reload} />}
      {list.items === undefined && list.isLoading && <Loading />}
      {list.items !== undefined && all.length === 0 && !list.hasMore && (
        <EmptyState icon="herb" title={t(words.noneTitle)}>
          <p>
            <Text of={words.noneBody} />
          </p>
        </EmptyState>
      )}
      {list.items !== undefined && (all.length > 0 || list.hasMore) && (
        <>
          <div className="narrow">
            <TextField label={t(words.filter)} hint={t(words.filterHint)} value={word} onChange={({ target }) => setWord(target.value)} maxLength={200} {...SEARCH_FIELD} />
          </div>
          <div aria-live="polite" className="result-line">
            <p>{word.trim() !== '' && shown.length === 0 ? t(words.noneOfName) : tn(words.count, shown.length)}</p>
          </div>
          <ul className="herb-cards">
            {shown.map((herb) => (
              <HerbCard key={herb.node.id} herb={herb} />
            ))}
          </ul>
        </>
      )}
      {list.hasMore && (
        <div className="more">
          <Button onClick={list.more} isBusy={list.isLoading}>
            {t(words.more)}
          </Button>
        </div>
      )}
    </>
  );
}

function HerbCard({ herb: { node, hasMonograph } }: { herb: ListedHerb }) {
  const { t, language } = useLanguage();
  const title = nameIn(language, node.names, node.id);
  const other = language === 'th' ? 'en' : 'th';
  const others = [other, 'la'].flatMap((lang) => node.names.find((name) => name.lang === lang) ?? []).filter(({ text }) => text !== title);
  return (
    <li className="board-card">
      <h2>
        <Link to={pathOf({ page: 'herb', id: node.id })} className="card-link">
          <span className="card-title">{title}</span>
        </Link>
      </h2>
      <p className="card-line">
        {others.map(({ text, lang }) => (
          <span key={lang} lang={lang} className={lang === 'la' ? 'latin' : undefined}>
            {text}
          </span>
        ))}
      </p>
      {hasMonograph && (
        <p className="card-line">
          <Badge tone="quiet" icon="documents">
            {t(words.hasMonograph)}
          </Badge>
        </p>
      )}
    </li>
  );
}
