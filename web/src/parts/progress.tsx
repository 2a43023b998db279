// How far something is. Without `max`, only that it is under way.

import { useId } from 'react';

export function Progress({ label, value, max }: { label: string; value?: number; max?: number | undefined }) {
  const id = useId();
  const isKnown = value !== undefined && max !== undefined && max > 0;
  return (
    <div className="progress" role="status">
      <label htmlFor={id}>{label}</label>
      {isKnown ? <progress id={id} value={Math.min(value, max)} max={max} /> : <progress id={id} />}
    </div>
  );
}
