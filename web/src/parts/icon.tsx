// Line icons on a 20 × 20 grid. They only accompany words, so they are hidden from screen readers.

const PATHS = {
  home: 'M3 9.5 10 3.5l7 6M5 8.5V16h10V8.5M8.5 16v-4h3v4',
  audit: 'M5 3.5h7l3 3V16.5H5zM12 3.5v3h3M7.5 10h5M7.5 13h3.5',
  documents: 'M6.5 6.5h9v10h-9zM6.5 13.5h-2v-10h9v3M9 10h4M9 13h2.5',
  tasks: 'M3.5 5.5 5 7l2.5-3M3.5 13 5 14.5l2.5-3M10 5.5h6.5M10 13h6.5',
  image: 'M3 4.5h14v11H3zM3 13l4-4 3.5 3.5L13 10l4 3.5M12.5 7.5h.01',
  edit: 'M4 13.2 12.8 4.4l2.8 2.8L6.8 16H4zM11 6.2 13.8 9',
  changes: 'M6.5 4v7M3 7.5h7M10.5 14.5h6',
  reload: 'M15.5 8A6 6 0 1 0 16 11.5M16 4v4h-4',
  claim: 'M5 17V3.5h10l-2.5 3.5 2.5 3.5H5',
  settings: 'M3.5 6h6M13.5 6h3M11.5 4v4M3.5 14h3M10.5 14h6M8.5 12v4',
  operations: 'M4 5h12M4 10h12M4 15h7',
  keyboard: 'M2.5 5.5h15v9h-15zM5.5 8.5h.01M8.5 8.5h.01M11.5 8.5h.01M14.5 8.5h.01M6.5 11.5h7',
  menu: 'M3.5 5.5h13M3.5 10h13M3.5 14.5h13',
  close: 'M5 5l10 10M15 5 5 15',
  search: 'M9 3.5a5.5 5.5 0 1 0 0 11 5.5 5.5 0 0 0 0-11M13 13l3.5 3.5',
  copy: 'M7.5 7.5h8v8h-8zM12.5 7.5v-3h-8v8h3',
  download: 'M10 3.5v9M6.5 9.5l3.5 3.5 3.5-3.5M4 16.5h12',
  check: 'M4.5 10.5l3.5 3.5 7.5-8',
  cross: 'M6 6l8 8M14 6l-8 8',
  warning: 'M10 3.5 17 16H3zM10 8v3.5M10 13.7v.1',
  info: 'M10 3a7 7 0 1 0 0 14 7 7 0 0 0 0-14M10 9.2V13.5M10 6.6v.1',
  dot: 'M10 8.5a1.5 1.5 0 1 0 0 3 1.5 1.5 0 0 0 0-3',
  clock: 'M10 3a7 7 0 1 0 0 14 7 7 0 0 0 0-14M10 6.2V10l2.6 1.6',
  shield: 'M10 2.8 16 5v4.6c0 3.6-2.5 6.3-6 7.6-3.5-1.3-6-4-6-7.6V5zM7.3 9.9l2 2 3.4-3.7',
  key: 'M7 8.5a3.2 3.2 0 1 0 0 6.4 3.2 3.2 0 0 0 0-6.4M9.3 9.3 15.5 3.5M13 6l2 2',
  arrow: 'M4 10h11M11 6l4 4-4 4',
  back: 'M16 10H5M9 6l-4 4 4 4',
  chevron: 'M7.5 4.5 13 10l-5.5 5.5',
  minus: 'M4 10h12',
  fit: 'M3.5 7.5v-4h4M12.5 3.5h4v4M16.5 12.5v4h-4M7.5 16.5h-4v-4M8 8h4v4H8z',
  graph: 'M5 12.5a2 2 0 1 0 0 4 2 2 0 0 0 0-4M15 12.5a2 2 0 1 0 0 4 2 2 0 0 0 0-4M10 3.5a2 2 0 1 0 0 4 2 2 0 0 0 0-4M6 12.7l3-5.4M14 12.7l-3-5.4M7 14.5h6',
  herb: 'M10 17v-6M10 11c0-4 2.5-7 6.5-7.5C16.5 8 14 11 10 11M10 13.5c0-3-2-5-6.5-5.5 0 3.5 2.5 5.5 6.5 5.5',
  plus: 'M10 4v12M4 10h12',
  model: 'M10 3 16 6.3v7.4L10 17l-6-3.3V6.3zM4 6.3l6 3.4 6-3.4M10 9.7V17',
  server: 'M3.5 4h13v5h-13zM3.5 11h13v5h-13zM6.5 6.5h.01M6.5 13.5h.01',
  external: 'M8 4.5H4.5v11h11V12M11.5 3.5h5v5M16 4l-6.5 6.5',
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name }: { name: IconName }) {
  return (
    <svg className="icon" viewBox="0 0 20 20" aria-hidden="true" focusable="false">
      <path d={PATHS[name]} />
    </svg>
  );
}
