// Takes the graph along: as a picture, or as KGX tables with the licence in every row.

import { type RefObject, useState } from 'react';
import type { CallError, Client, Input } from '../../api/client.ts';
import { asCallError } from '../../api/query.ts';
import { useClient, useIsServed } from '../../api/session.tsx';
import type { CanvasHandle } from '../../graph/canvas.tsx';
import { colourOf } from '../../graph/colours.ts';
import { draw, toCanvas, toSvg } from '../../graph/drawing.ts';
import { tsvOf } from '../../graph/kgx.ts';
import type { Network } from '../../graph/network.ts';
import { useLanguage } from '../../i18n/language.tsx';
import { graph as words } from '../../i18n/messages/graph.ts';
import { Button } from '../../parts/button.tsx';
import { saveBlob, saveFile } from '../../parts/save-file.ts';
import { ErrorState } from '../../parts/states.tsx';
import { useToast } from '../../parts/toast.tsx';

type Format = keyof typeof words.formats;

const FILES: Record<Format, string> = { png: 'graph.png', svg: 'graph.svg', kgx_nodes: 'nodes.tsv', kgx_edges: 'edges.tsv' };
const IDS_MAX = 1_000;

interface Props {
  network: Network;
  nameOf: (id: string) => string;
  canvas: RefObject<CanvasHandle | null>;
}

export function ExportBar({ network, nameOf, canvas }: Props) {
  const { t } = useLanguage();
  const client = useClient();
  const toast = useToast();
  const isServed = useIsServed('export_records');
  const [busy, setBusy] = useState<Format>();
  const [error, setError] = useState<CallError>();

  const drawing = () => {
    const palette = canvas.current?.palette();
    if (canvas.current == null || palette == null) return null;
    const kind = (name: string) => palette.kinds[colourOf(name) - 1] ?? palette.ink;
    return draw(network, canvas.current.positions(), nameOf, { paper: palette.paper, ink: palette.ink, line: palette.line, kind });
  };
  const save = async (format: Format) => {
    setBusy(format);
    setError(undefined);
    try {
      if (format === 'png' || format === 'svg') {
        const picture = drawing();
        if (picture === null) return;
        if (format === 'svg') saveFile(FILES.svg, [toSvg(picture)], 'image/svg+xml');
        else saveBlob(FILES.png, await pngOf(picture));
      } else {
        const ids = [...(format === 'kgx_nodes' ? network.nodes : network.edges).keys()];
        saveFile(FILES[format], [tsvOf(await readKgx(client, format, ids))], 'text/tab-separated-values');
      }
      toast('ok', t(words.exported, { file: FILES[format] }));
    } catch (thrown) {
      setError(asCallError(thrown));
    } finally {
      setBusy(undefined);
    }
  };
  const formats = (Object.keys(FILES) as Format[]).filter((format) => {
    if (format === 'kgx_nodes' || format === 'kgx_edges') return isServed && (format === 'kgx_nodes' || network.edges.size > 0);
    return true;
  });
  return (
    <section className="graph-export" aria-label={t(words.export)}>
      <h2 className="for-readers">{t(words.export)}</h2>
      <div className="row">
        {formats.map((format) => (
          <Button key={format} icon="download" isBusy={busy === format} onClick={() => void save(format)}>
            {t(words.formats[format])}
          </Button>
        ))}
      </div>
      {error && <ErrorState error={error} />}
    </section>
  );
}

async function readKgx(client: Client, format: Input<'export_records'>['format'], ids: string[]): Promise<string> {
  let lines = '';
  for (let at = 0; at < ids.length; at += IDS_MAX) {
    const { content } = await client.call('export_records', { format, ids: ids.slice(at, at + IDS_MAX) });
    lines += content;
  }
  return lines;
}

function pngOf(picture: NonNullable<ReturnType<typeof draw>>): Promise<Blob> {
  const canvas = document.createElement('canvas');
  canvas.width = picture.width;
  canvas.height = picture.height;
  const context = canvas.getContext('2d');
  if (context === null) return Promise.reject(new Error('no 2D canvas'));
  toCanvas(picture, context);
  return new Promise((resolve, reject) => {
    canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error('no picture'))), 'image/png');
  });
}
