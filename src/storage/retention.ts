import type { ClientBase } from 'pg'

type Client = Pick<ClientBase, 'query'>

async function purge(client: Client, text: string, values: readonly number[]): Promise<number> {
  const { rows } = await client.query<{ purged: number }>(text, [...values])
  return rows[0]?.purged ?? 0
}

/** Keeps entries for `audit_retention_days` (a setting). Index: audit_log_pkey. */
export async function purgeAuditLog(client: Client, maxRows: number): Promise<number> {
  return purge(client, 'select holdfast_internal.purge_audit_log($1) as purged', [maxRows])
}

/** Index: circuit_changes_pkey. */
export async function purgeCircuitChanges(
  client: Client,
  keepDays: number,
  maxRows: number,
): Promise<number> {
  return purge(client, 'select holdfast_internal.purge_circuit_changes($1, $2) as purged', [
    keepDays,
    maxRows,
  ])
}

/** Index: operations_state. */
export async function purgeOperations(client: Client, keepDays: number, maxRows: number): Promise<number> {
  return purge(client, 'select holdfast_internal.purge_operations($1, $2) as purged', [keepDays, maxRows])
}

/** Deletes expired API results, sessions and sign-in links, and revoked keys. Indexes: api_results_expiry, api_sessions_expiry. */
export async function purgeAccess(client: Client, keepDays: number, maxRows: number): Promise<number> {
  return purge(client, 'select holdfast_internal.purge_access($1, $2) as purged', [keepDays, maxRows])
}

/** Index: schedules_spent. */
export async function purgeSchedules(client: Client, keepDays: number, maxRows: number): Promise<number> {
  return purge(client, 'select holdfast_internal.purge_schedules($1, $2) as purged', [keepDays, maxRows])
}

/** Index: key_rates_paid. */
export async function purgeKeyRates(client: Client, maxRows: number): Promise<number> {
  return purge(client, 'select holdfast_internal.purge_key_rates($1) as purged', [maxRows])
}
