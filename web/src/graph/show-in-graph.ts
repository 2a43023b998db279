// The way from other pages to the explorer.

import { useTools } from '../api/session.tsx';
import { remember } from '../evidence/memory.ts';
import { navigate } from '../router/router.tsx';
import { pathOf } from '../router/routes.ts';

/** Opens the explorer at a node. What somebody looks at stands in no address. */
export function useShowInGraph(): (id: string) => void {
  const session = useTools();
  return (id) => {
    remember(session, 'graph', id);
    navigate(pathOf({ page: 'graph' }));
  };
}
