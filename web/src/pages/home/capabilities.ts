// What the product is for, as lists of operations. A capability works when the server lists all of its operations.

import { home } from '../../i18n/messages/home.ts';
import type { Message } from '../../i18n/message.ts';

export interface Capability {
  id: string;
  label: Message;
  operations: string[];
}

export const CAPABILITIES: Capability[] = [
  { id: 'ids', label: home.ids, operations: ['get_next_available_id', 'reserve_id_range', 'confirm_reservation'] },
  { id: 'ledger', label: home.ledger, operations: ['audit_search', 'audit_prove', 'audit_verify', 'audit_export'] },
  { id: 'access', label: home.access, operations: ['list_keys', 'create_key', 'revoke_key'] },
  { id: 'documents', label: home.documents, operations: ['validate_artifact', 'store_artifact', 'approve_artifact'] },
  { id: 'tasks', label: home.tasks, operations: ['add_task', 'get_next_task', 'update_task_status', 'list_tasks'] },
  { id: 'evidence', label: home.evidence, operations: ['query_kg', 'hybrid_search', 'find_contraindications'] },
  { id: 'answers', label: home.answers, operations: ['rag_answer'] },
  {
    id: 'clinic',
    label: home.clinic,
    operations: ['get_patient_context', 'run_diagnosis', 'check_multiple_interactions'],
  },
  { id: 'ingest', label: home.ingest, operations: ['ingest_run', 'eval_run'] },
];

export type CapabilityState = 'works' | 'partly' | 'missing';

export function stateOf(capability: Capability, isServed: (operation: string) => boolean): CapabilityState {
  const n_served = capability.operations.filter(isServed).length;
  if (n_served === 0) return 'missing';
  return n_served === capability.operations.length ? 'works' : 'partly';
}
