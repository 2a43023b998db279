// Writing a document or its next version: validate, mend, store.

import { useEffect, useRef, useState } from 'react';
import type { CallError, Output } from '../../api/client.ts';
import { asCallError, useQuery } from '../../api/query.ts';
import { useClient, useIsServed } from '../../api/session.tsx';
import { useLanguage } from '../../i18n/language.tsx';
import { documents as words } from '../../i18n/messages/documents.ts';
import { parseStored } from '../../markdown/address.ts';
import { Button } from '../../parts/button.tsx';
import { Segments, SelectField, TextAreaField, TextField } from '../../parts/field.tsx';
import { goToLine, Markdown } from '../../parts/markdown.tsx';
import { Notice, PageHead } from '../../parts/page.tsx';
import { ErrorState, Loading, WhenServed } from '../../parts/states.tsx';
import { useToast } from '../../parts/toast.tsx';
import { Link, navigate, useSearch } from '../../router/router.tsx';
import { pathOf, pathOfDocument } from '../../router/routes.ts';
import { dropDraft, keepDraft, readDraft } from './drafts.ts';
import { Findings } from './findings.tsx';
import { parsePlace, type Place } from './place.ts';
import { guessId, offsetOfLine, withVersion } from './source.ts';

const TEXT_CHARS_MAX = 500_000;
const VERSION_MAX = 999;

/** Without an id, a new document. */
export function EditPage({ id }: { id?: string }) {
  const { t } = useLanguage();
  return (
    <WhenServed operation="store_artifact" title={id ?? t(words.new)}>
      {id === undefined ? <NewDocument /> : <NextVersion id={id} />}
    </WhenServed>
  );
}

function NewDocument() {
  return <Editor start="" place={projectIn(useSearch())} />;
}

/** Whatever version an address names, the next one is after the latest. */
function projectIn(search: string): Place {
  const { project_id } = parsePlace(search);
  return project_id ? { project_id } : {};
}

function NextVersion({ id }: { id: string }) {
  const client = useClient();
  const search = useSearch();
  const place = projectIn(search);
  const read = useQuery(`${id} ${search}`, (signal) => client.call('read_artifact', { artifact_id: id, ...place }, { signal }));
  if (read.is === 'failed') return <ErrorState error={read.error} onRetry={read.reload} />;
  if (read.data === undefined) return <Loading />;
  const { artifact, content } = read.data;
  const version = Math.min(artifact.version + 1, VERSION_MAX);
  return <Editor start={withVersion(content, version)} place={place} edited={{ id: artifact.id, type: artifact.type, version }} />;
}

interface Edited {
  id: string;
  type: string;
  version: number;
}

function Editor({ start, place, edited }: { start: string; place: Place; edited?: Edited }) {
  const { t } = useLanguage();
  const draftKey = `${place.project_id ?? ''}/${edited?.id ?? ''}`;
  const [text, setText] = useState(() => readDraft(draftKey) ?? start);
  const [typedId, setTypedId] = useState<string>();
  const [shown, setShown] = useState<'text' | 'preview'>('text');
  const [problem, setProblem] = useState<{ text?: string; id?: string }>({});
  const area = useRef<HTMLDivElement>(null);
  const id = typedId ?? (edited?.id || guessId(text));
  const isChanged = text !== start;

  useEffect(() => (isChanged ? keepDraft(draftKey, text) : dropDraft(draftKey)), [draftKey, text, isChanged]);
  useEffect(() => {
    if (!isChanged) return;
    const warn = (event: BeforeUnloadEvent) => event.preventDefault();
    addEventListener('beforeunload', warn);
    return () => removeEventListener('beforeunload', warn);
  }, [isChanged]);

  const validation = useValidation(place);
  const storing = useStore(place, draftKey);
  const check = (needsId: boolean): boolean => {
    const found = {
      ...(text.trim() === '' ? { text: t(words.textMissing) } : {}),
      ...(needsId && id.trim() === '' ? { id: t(words.idMissing) } : {}),
    };
    setProblem(found);
    return Object.keys(found).length === 0;
  };
  const goTo = (line: number) => {
    const control = area.current?.querySelector('textarea');
    if (shown === 'preview' && area.current) return goToLine(area.current, line);
    if (!control) return;
    const { start: from, end } = offsetOfLine(text, line);
    control.focus();
    // Chromium scrolls to the caret only when it is set at one place first.
    control.setSelectionRange(from, from);
    control.blur();
    control.focus();
    control.setSelectionRange(from, end);
  };
  return (
    <>
      <p className="breadcrumb">
        {edited ? (
          <Link to={pathOfDocument({ id: edited.id, ...place })}>{t(words.backToDocument, { id: edited.id })}</Link>
        ) : (
          <Link to={pathOf({ page: 'documents' })}>{t(words.backToBoard)}</Link>
        )}
      </p>
      <PageHead title={edited ? t(words.editTitle, { id: edited.id }) : t(words.new)} lead={t(words.editLead)} />
      {edited && (
        <Notice tone="info">
          <p>{t(words.versionRaised, { version: edited.version })}</p>
        </Notice>
      )}
      {!edited && text.trim() === '' && <TemplateForm onTemplate={setText} />}
      <div className="beside">
        <div ref={area} className="stack">
          <Segments
            label={t(words.show)}
            name="shown"
            value={shown}
            options={[
              { value: 'text', label: t(words.text) },
              { value: 'preview', label: t(words.preview) },
            ]}
            onChange={(value) => setShown(value === 'preview' ? 'preview' : 'text')}
          />
          {shown === 'text' ? (
            <TextAreaField
              label={t(words.markdownText)}
              hint={t(words.markdownHint)}
              error={problem.text}
              value={text}
              onChange={({ target }) => setText(target.value)}
              rows={28}
              maxLength={TEXT_CHARS_MAX}
            />
          ) : (
            <div className="card" role="group" aria-label={t(words.preview)}>
              {text.trim() === '' ? <p className="quiet">{t(words.nothingToPreview)}</p> : <Markdown text={text} />}
            </div>
          )}
        </div>
        <div className="stack is-following">
          <section className="card stack" aria-labelledby="findings">
            <h2 id="findings">{t(words.findings)}</h2>
            <TextField
              label={t(words.idField)}
              hint={t(words.idFieldHint)}
              error={problem.id}
              value={id}
              onChange={({ target }) => setTypedId(target.value)}
              maxLength={200}
            />
            <div className="row">
              <Button
                look={validation.result?.passed && validation.text === text ? 'plain' : 'primary'}
                icon="check"
                isBusy={validation.isBusy}
                onClick={() => check(true) && validation.run(text, id.trim())}
              >
                {t(words.validate)}
              </Button>
              <Button
                look={validation.result?.passed && validation.text === text ? 'primary' : 'plain'}
                icon="download"
                isBusy={storing.isBusy}
                onClick={() => check(false) && storing.run(text)}
              >
                {t(words.store)}
              </Button>
            </div>
            {storing.error && <ErrorState error={storing.error} />}
            {validation.error && <ErrorState error={validation.error} />}
            {validation.result && validation.text !== text && (
              <Notice tone="info">
                <p>{t(words.stale)}</p>
              </Notice>
            )}
            {validation.result ? (
              <Findings result={validation.result} artifactType={edited?.type} onLine={goTo} />
            ) : (
              <p className="quiet">{t(words.noFindings)}</p>
            )}
          </section>
        </div>
      </div>
    </>
  );
}

/** The last validation, and the text it was of. */
function useValidation({ project_id }: Place) {
  const client = useClient();
  const [state, setState] = useState<{ result?: Output<'validate_artifact'>; text?: string }>({});
  const [isBusy, setIsBusy] = useState(false);
  const [error, setError] = useState<CallError>();
  const run = async (text: string, artifact_id: string) => {
    setIsBusy(true);
    setError(undefined);
    try {
      const input = { artifact_content: text, artifact_id, ...(project_id ? { project_id } : {}) };
      setState({ result: await client.call('validate_artifact', input), text });
    } catch (thrown) {
      setError(asCallError(thrown));
    } finally {
      setIsBusy(false);
    }
  };
  return { ...state, isBusy, error, run };
}

function useStore({ project_id }: Place, draftKey: string) {
  const { t } = useLanguage();
  const client = useClient();
  const toast = useToast();
  const [isBusy, setIsBusy] = useState(false);
  const [error, setError] = useState<CallError>();
  const run = async (text: string) => {
    setIsBusy(true);
    setError(undefined);
    try {
      const stored = await client.call('store_artifact', { artifact_content: text, ...(project_id ? { project_id } : {}) });
      // Documents without an id go by their file name.
      const id = parseStored(stored.resource_uri)?.id ?? stored.artifact_id;
      dropDraft(draftKey);
      toast('ok', t(words.stored, { id }));
      navigate(pathOfDocument({ id, project_id }));
    } catch (thrown) {
      setError(asCallError(thrown));
      setIsBusy(false);
    }
  };
  return { isBusy, error, run };
}

function TemplateForm({ onTemplate }: { onTemplate: (text: string) => void }) {
  const { t } = useLanguage();
  const client = useClient();
  const hasTemplates = useIsServed('read_template');
  const hasTypes = useIsServed('list_artifact_types');
  const isServed = hasTemplates && hasTypes;
  const types = useQuery(isServed ? 'types' : null, (signal) => client.call('list_artifact_types', {}, { signal }));
  const [type, setType] = useState('');
  const [isBusy, setIsBusy] = useState(false);
  const [error, setError] = useState<CallError>();
  const names = types.data?.artifact_types ?? [];
  if (!isServed || names.length === 0) return null;
  const artifact_type = type || (names[0]?.name ?? '');
  const insert = async () => {
    setIsBusy(true);
    setError(undefined);
    try {
      onTemplate((await client.call('read_template', { artifact_type })).content);
    } catch (thrown) {
      setError(asCallError(thrown));
    } finally {
      setIsBusy(false);
    }
  };
  return (
    <div className="stack template-form">
      <div className="inline-form">
        <SelectField
          label={t(words.template)}
          value={artifact_type}
          onChange={({ target }) => setType(target.value)}
          options={names.map(({ name, prefix }) => ({ value: name, label: prefix ? `${prefix} · ${name}` : name }))}
        />
        <Button onClick={insert} isBusy={isBusy}>
          {t(words.insertTemplate)}
        </Button>
      </div>
      {error && <ErrorState error={error} />}
    </div>
  );
}
