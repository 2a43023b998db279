// Follows a pattern from a node, and lists the paths that were found.

import { type FormEvent, useState } from 'react';
import { AnswerNote } from '../../evidence/answer-note.tsx';
import { CriticalBadge } from '../../evidence/badges.tsx';
import { SaidSame } from '../../evidence/check-line.tsx';
import { RetractedBriefly } from '../../evidence/retracted.tsx';
import { useWords } from '../../evidence/words.ts';
import type { Network, Path } from '../../graph/network.ts';
import { startOf } from '../../graph/pattern.ts';
import type { Found, PathQuestion } from '../../graph/use-network.ts';
import { useVocabulary } from '../../graph/vocabulary.ts';
import { Text, useLanguage } from '../../i18n/language.tsx';
import { graph as words } from '../../i18n/messages/graph.ts';
import { Button } from '../../parts/button.tsx';
import { TextField } from '../../parts/field.tsx';
import { PatternField } from './pattern-field.tsx';

interface Props {
  network: Network;
  selected: string | null;
  nameOf: (id: string) => string;
  isBusy: boolean;
  found: Found | undefined;
  shown: Path | undefined;
  onRun: (question: PathQuestion) => void;
  onShow: (path: Path | undefined) => void;
}

export function PathForm({ network, selected, nameOf, isBusy, found, shown, onRun, onShow }: Props) {
  const { t } = useLanguage();
  const [pattern, setPattern] = useState('');
  const [from, setFrom] = useState('');
  const [problem, setProblem] = useState<{ pattern?: string; from?: string }>({});
  const [isWanted, setIsWanted] = useState(false);
  const vocabulary = useVocabulary(network, isWanted);
  const node = selected === null ? undefined : network.nodes.get(selected);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const start = from.trim() || node?.id;
    const problems = {
      ...(pattern.trim() === '' ? { pattern: t(words.patternEmpty) } : {}),
      ...(start === undefined ? { from: t(words.fromEmpty) } : {}),
    };
    setProblem(problems);
    if (start === undefined || Object.keys(problems).length > 0) return;
    onRun({ from: start, kind: startOf(pattern), pattern: pattern.trim() });
  };
  return (
    <form className="card graph-form" aria-label={t(words.path)} onSubmit={submit} noValidate>
      <h2>{t(words.path)}</h2>
      <TextField
        label={t(words.from)}
        hint={t(words.fromHint)}
        error={problem.from}
        placeholder={node && nameOf(node.id)}
        value={from}
        onChange={({ target }) => setFrom(target.value)}
        maxLength={500}
      />
      <PatternField
        label={t(words.pattern)}
        hint={<Text of={words.patternHint} />}
        error={problem.pattern}
        value={pattern}
        vocabulary={vocabulary}
        onChange={setPattern}
        onFocus={() => setIsWanted(true)}
      />
      <div className="row">
        <Button type="submit" icon="arrow" isBusy={isBusy}>
          {t(words.run)}
        </Button>
        {shown && (
          <Button look="quiet" onClick={() => onShow(undefined)}>
            {t(words.showAllAgain)}
          </Button>
        )}
      </div>
      {found && <Paths found={found} shown={shown} nameOf={nameOf} onShow={onShow} />}
    </form>
  );
}

function Paths({ found, shown, nameOf, onShow }: { found: Found; shown: Path | undefined; nameOf: (id: string) => string; onShow: (path: Path) => void }) {
  const { t, tn } = useLanguage();
  const { predicate } = useWords();
  return (
    <div>
      <div aria-live="polite">
        <p className="paths-count">
          {found.paths.length === 0 ? t(words.pathsNone) : tn(words.paths, found.paths.length)} {found.isMore && t(words.pathsMore)}
        </p>
        <AnswerNote note={found.note} />
      </div>
      <ol className="paths" aria-label={t(words.pathsFound)}>
        {found.paths.map((path, at) => (
          <li key={at}>
            <button type="button" className="path" aria-pressed={path === shown} onClick={() => onShow(path)}>
              {path.map(({ id, via }) => (
                <span key={id}>
                  {via && <span className="path-step">{via.reverse ? ` ← ${predicate(via.predicate)} — ` : ` — ${predicate(via.predicate)} → `}</span>}
                  {nameOf(id)}
                  <CriticalBadge critical={via?.critical} capped={via?.capped} />
                  <RetractedBriefly retracted={via?.retracted} />
                </span>
              ))}
              {path[0] && <SaidSame same={path[0].same_as} name={nameOf(path[0].id)} />}
            </button>
          </li>
        ))}
      </ol>
    </div>
  );
}
