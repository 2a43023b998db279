// The first page: what works here, what is missing, and how to connect a client.

import { useTools } from '../../api/session.tsx';
import { Text, useLanguage } from '../../i18n/language.tsx';
import { home } from '../../i18n/messages/home.ts';
import { Snippet } from '../../parts/copy.tsx';
import { Icon } from '../../parts/icon.tsx';
import { Badge, PageHead, Section, type Tone } from '../../parts/page.tsx';
import { Table } from '../../parts/table.tsx';
import { Tabs } from '../../parts/tabs.tsx';
import { CAPABILITIES, type CapabilityState, stateOf } from './capabilities.ts';
import { clientTexts } from './clients.ts';
import { StatusTiles } from './status-tiles.tsx';

export function HomePage() {
  const { t } = useLanguage();
  return (
    <>
      <PageHead title={t(home.title)} lead={t(home.lead)} />
      <StatusTiles />
      <Capabilities />
      <FirstSteps />
      <Reference />
    </>
  );
}

const TONES: Record<CapabilityState, Tone> = { works: 'ok', partly: 'warn', missing: 'quiet' };

function Capabilities() {
  const { t } = useLanguage();
  const tools = useTools();
  const isServed = (operation: string) => tools.some((tool) => tool.name === operation);
  const words = { works: t(home.works), partly: t(home.partly), missing: t(home.missing) };
  const rows = CAPABILITIES.map((capability) => ({ ...capability, state: stateOf(capability, isServed) }));
  return (
    <Section title={t(home.capabilities)} lead={t(home.capabilitiesLead)}>
      <Table
        caption={t(home.capabilities)}
        rows={rows}
        keyOf={(row) => row.id}
        columns={[
          { id: 'capability', label: t(home.capability), isHeading: true, cell: (row) => t(row.label) },
          { id: 'state', label: t(home.state), cell: (row) => <Badge tone={TONES[row.state]}>{words[row.state]}</Badge> },
          {
            id: 'operations',
            label: t(home.needs),
            cell: (row) => (
              <ul className="operation-list">
                {row.operations.map((operation) => (
                  <li key={operation}>
                    {isServed(operation) ? (
                      <a href={`/api#${operation}`} className="mono">
                        {operation}
                      </a>
                    ) : (
                      <>
                        <span className="mono is-missing">{operation}</span>
                        <span className="for-readers"> {t(home.missingOperation)}</span>
                      </>
                    )}
                  </li>
                ))}
              </ul>
            ),
          },
        ]}
      />
    </Section>
  );
}

function FirstSteps() {
  const { t } = useLanguage();
  const texts = clientTexts(location.origin, t(home.vsCodePrompt));
  const dataNote = (
    <p className="field-hint">
      <Text of={home.dataNote} />
    </p>
  );
  return (
    <Section title={t(home.firstSteps)} lead={t(home.firstStepsLead)}>
      <Tabs
        label={t(home.clients)}
        tabs={[
          {
            id: 'desktop',
            label: 'Claude Desktop',
            panel: (
              <>
                <Snippet label={t(home.fileDesktop)} text={texts.claudeDesktop} />
                {dataNote}
              </>
            ),
          },
          {
            id: 'code',
            label: 'Claude Code',
            panel: (
              <>
                <Snippet label={t(home.shellStdio)} text={texts.claudeCodeStdio} />
                <Snippet label={t(home.shellHttp)} text={texts.claudeCodeHttp} />
                {dataNote}
              </>
            ),
          },
          { id: 'vscode', label: 'VS Code', panel: <Snippet label={t(home.fileVsCode)} text={texts.vsCode} /> },
          {
            id: 'inspector',
            label: 'MCP Inspector',
            panel: (
              <>
                <Snippet label={t(home.shellInspect)} text={texts.inspector} />
                {dataNote}
              </>
            ),
          },
          {
            id: 'curl',
            label: 'curl',
            panel: (
              <>
                <Snippet label={t(home.shellCall)} text={texts.curl} />
                {dataNote}
              </>
            ),
          },
        ]}
      />
    </Section>
  );
}

function Reference() {
  const { t } = useLanguage();
  const links = [
    { href: '/api', label: t(home.referenceOperations) },
    { href: '/api/openapi.json', label: t(home.referenceOpenapi) },
    { href: '/health', label: t(home.referenceHealth) },
    { href: '/metrics', label: t(home.referenceMetrics) },
  ];
  return (
    <Section title={t(home.reference)}>
      <ul className="link-list">
        {links.map(({ href, label }) => (
          <li key={href}>
            <a href={href}>
              <Icon name="external" />
              {label}
            </a>
            <span className="mono">{href}</span>
          </li>
        ))}
      </ul>
    </Section>
  );
}
