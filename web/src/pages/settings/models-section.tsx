// The models: what search works with, and that there is no language model.

import type { ReactNode } from 'react';
import { useQuery } from '../../api/query.ts';
import { useClient } from '../../api/session.tsx';
import { ServerWords } from '../../evidence/answer-note.tsx';
import { Text, useLanguage } from '../../i18n/language.tsx';
import { search } from '../../i18n/messages/search.ts';
import { settings } from '../../i18n/messages/settings.ts';
import { Mono } from '../../parts/copy.tsx';
import { Badge, Facts, Section, type Tone } from '../../parts/page.tsx';
import { EmptyState, ErrorState, Loading, WhenServed } from '../../parts/states.tsx';
import { type ModelState, type SearchParts, searchPartsOf } from './models.ts';

/** One word that a model of English takes part in. What is found does not matter. */
const PROBE = { query: 'ginger', lang: 'en', top_k: 1 } as const;

export function ModelsSection() {
  const { t } = useLanguage();
  return (
    <>
      <Section title={t(settings.searchParts)} lead={t(settings.searchPartsLead)}>
        <WhenServed operation="hybrid_search">
          <OfSearch />
        </WhenServed>
      </Section>
      <Section title={t(settings.languageModel)}>
        <EmptyState icon="model" title={t(settings.modelsTitle)}>
          <p>{t(settings.modelsBody)}</p>
        </EmptyState>
      </Section>
    </>
  );
}

function OfSearch() {
  const { t } = useLanguage();
  const client = useClient();
  const query = useQuery('models', async (signal) => searchPartsOf(await client.call('hybrid_search', PROBE, { signal })));
  if (query.is === 'failed') return <ErrorState error={query.error} onRetry={query.reload} />;
  if (query.data === undefined) return <Loading />;
  const { model, nMissing, hasLexica } = query.data;
  return (
    <div className="card">
      <Facts
        facts={[
          { label: t(settings.embeddingModel), value: <Model model={model} nMissing={nMissing} /> },
          hasLexica === undefined ? null : { label: t(settings.lexica), value: <Lexica hasLexica={hasLexica} /> },
        ]}
      />
    </div>
  );
}

function Model({ model, nMissing }: { model: ModelState } & Pick<SearchParts, 'nMissing'>) {
  const { t, tn } = useLanguage();
  switch (model.is) {
    case 'in_use':
      return (
        <Part tone={model.hasAnswered ? 'ok' : 'warn'} word={t(settings.inUse)} name={<Mono>{model.name}</Mono>}>
          {nMissing > 0 && <p>{tn(settings.vectorsMissing, nMissing)}</p>}
          {!model.hasAnswered && <p>{model.message === undefined ? t(search.withoutVectors) : <ServerWords text={model.message} />}</p>}
        </Part>
      );
    case 'unusable':
      return (
        <Part tone="bad" word={t(settings.notUsable)}>
          <p>
            <Text of={search.modelUnusable} values={{ fault: <bdi lang="en">{model.fault}</bdi> }} />
          </p>
        </Part>
      );
    case 'none':
      return (
        <Part tone="quiet" word={t(settings.none)}>
          <p>
            <Text of={settings.modelNone} />
          </p>
        </Part>
      );
  }
}

function Lexica({ hasLexica }: { hasLexica: boolean }) {
  const { t } = useLanguage();
  return (
    <Part tone={hasLexica ? 'ok' : 'quiet'} word={t(hasLexica ? settings.inUse : settings.none)}>
      <p>
        <Text of={hasLexica ? settings.lexicaWhich : settings.lexicaNone} />
      </p>
    </Part>
  );
}

function Part({ tone, word, name, children }: { tone: Tone; word: string; name?: ReactNode; children: ReactNode }) {
  return (
    <div>
      <p className="row">
        {name}
        <Badge tone={tone}>{word}</Badge>
      </p>
      {children}
    </div>
  );
}
