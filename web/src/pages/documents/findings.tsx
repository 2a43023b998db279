// What the checklist says of a text: first what is to be mended, then what a reader has to judge, then the rest.

import type { ReactNode } from 'react';
import type { Output } from '../../api/client.ts';
import { useQuery } from '../../api/query.ts';
import { useClient, useIsServed } from '../../api/session.tsx';
import { useLanguage } from '../../i18n/language.tsx';
import { documents as words } from '../../i18n/messages/documents.ts';
import { Badge } from '../../parts/page.tsx';
import { cutLines } from './source.ts';

type Result = Output<'validate_artifact'>;
type Finding = Result['results'][number];

interface FindingsProps {
  result: Result;
  /** Of the document, where it is known: the words of its checklist are shown beside the criteria. */
  artifactType?: string | undefined;
  onLine: (line: number) => void;
}

export function Findings({ result, artifactType, onLine }: FindingsProps) {
  const { t, tn } = useLanguage();
  const descriptions = useDescriptions(artifactType);
  const failed = result.results.filter((finding) => finding.passed === false);
  const judged = result.results.filter((finding) => finding.passed === null);
  const passed = result.results.filter((finding) => finding.passed === true);
  const list = (findings: Finding[]) => (
    <ul className="findings">
      {findings.map((finding) => (
        <FindingItem key={finding.id} finding={finding} description={descriptions.get(finding.id)} onLine={onLine} />
      ))}
    </ul>
  );
  return (
    <div className="stack" role="group" aria-label={t(words.findings)}>
      <p className="findings-summary" role="status">
        <Badge tone={result.passed ? 'ok' : 'bad'}>{t(result.passed ? words.findingsPassed : words.findingsFailed)}</Badge>
        <span>{t(words.findingsRate, { rate: result.automated_pass_rate })}</span>
        {judged.length > 0 && <span>{tn(words.toJudge, judged.length)}</span>}
      </p>
      {failed.length > 0 && <Group title={t(words.failedCriteria)}>{list(failed)}</Group>}
      {judged.length > 0 && <Group title={t(words.judgedCriteria)}>{list(judged)}</Group>}
      {passed.length > 0 && (
        <details>
          <summary>{tn(words.passedCriteria, passed.length)}</summary>
          {list(passed)}
        </details>
      )}
    </div>
  );
}

function Group({ title, children }: { title: string; children: ReactNode }) {
  return (
    <div className="findings-group">
      <h3>{title}</h3>
      {children}
    </div>
  );
}

function FindingItem({ finding, description, onLine }: { finding: Finding; description: string | undefined; onLine: (line: number) => void }) {
  const { t } = useLanguage();
  const tone = finding.passed === null ? 'info' : finding.passed ? 'ok' : 'bad';
  return (
    <li>
      <Badge tone={tone}>{finding.id}</Badge>
      <div>
        {description && <p lang="en">{description}</p>}
        {finding.passed === null && (
          <p className="quiet">{t(finding.validation_type === 'manual' ? words.byPerson : words.byAgent)}</p>
        )}
        {finding.details && (
          <p lang="en" className="finding-details">
            {cutLines(finding.details).map((piece, at) =>
              piece.is === 'text' ? (
                piece.text
              ) : (
                <button key={at} type="button" className="line-link" onClick={() => onLine(piece.line)} aria-label={t(words.goToLine, { line: piece.line })}>
                  {piece.text}
                </button>
              ),
            )}
          </p>
        )}
      </div>
    </li>
  );
}

/** Results name criteria by their ids; what they ask for stands in the checklist. Without it the ids must do. */
function useDescriptions(artifactType: string | undefined): Map<string, string> {
  const client = useClient();
  const isServed = useIsServed('read_checklist');
  const checklist_id = `${artifactType === 'task' ? 'implementation_task' : artifactType}_validation_v1`;
  const read = useQuery(isServed && artifactType ? checklist_id : null, (signal) => client.call('read_checklist', { checklist_id }, { signal }));
  return new Map((read.data?.criteria ?? []).map(({ id, description }) => [id ?? '', description ?? '']));
}
