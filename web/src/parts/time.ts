// Times as they stand in logs: year first, 24 hours, the reader's zone. The same in every language and calendar.

function pad(number: number, width = 2): string {
  return String(number).padStart(width, '0');
}

/** `2026-11-15 20:36:38.293`; a text that is no time comes back as it is. */
export function formatTime(text: string): string {
  const time = new Date(text);
  if (Number.isNaN(time.getTime())) return text;
  return `${formatDay(text)} ${pad(time.getHours())}:${pad(time.getMinutes())}:${pad(time.getSeconds())}.${pad(time.getMilliseconds(), 3)}`;
}

export function formatDay(text: string): string {
  const time = new Date(text);
  if (Number.isNaN(time.getTime())) return text;
  return `${time.getFullYear()}-${pad(time.getMonth() + 1)}-${pad(time.getDate())}`;
}

/** `Asia/Bangkok (UTC+07:00)` */
export function zoneName(): string {
  const minutes = -new Date().getTimezoneOffset();
  const offset = `${minutes < 0 ? '−' : '+'}${pad(Math.floor(Math.abs(minutes) / 60))}:${pad(Math.abs(minutes) % 60)}`;
  return `${Intl.DateTimeFormat().resolvedOptions().timeZone} (UTC${offset})`;
}

/** `812 ms`, `1.78 s`, `4 min 5 s` */
export function formatSpan(milliseconds: number): string {
  if (milliseconds < 1_000) return `${milliseconds} ms`;
  if (milliseconds < 60_000) return `${(milliseconds / 1_000).toFixed(2)} s`;
  return formatDuration(milliseconds / 1_000);
}

/** `2 d 3 h`, `4 min 5 s` */
export function formatDuration(seconds: number): string {
  const units: [string, number][] = [
    ['d', 86_400],
    ['h', 3_600],
    ['min', 60],
    ['s', 1],
  ];
  const first = units.findIndex(([, size]) => seconds >= size);
  if (first < 0) return '0 s';
  let rest = Math.floor(seconds);
  const shown = units.slice(first, first + 2).map(([unit, size]) => {
    const count = Math.floor(rest / size);
    rest -= count * size;
    return `${count} ${unit}`;
  });
  return shown.filter((part) => !part.startsWith('0 ')).join(' ');
}
