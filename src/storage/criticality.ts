import type { ClientBase } from 'pg'
import type { Database } from './database.ts'

export interface RecipientRow {
  readonly endpoint: string
  readonly contact: string | null
  readonly deadLetters: number
  readonly overdue: number
  readonly since: Date
  readonly oldestMessageId: number
  readonly lastError: string | null
  readonly lastErrorAt: Date | null
}

/** Reads every recipient of critical events that are still undelivered. Indexes: dead_letters_critical, deliveries_critical, attempts_failed. */
export async function readRecipients(database: Database): Promise<RecipientRow[]> {
  return database.query<RecipientRow>(
    {
      name: 'persisting_recipients',
      text: `
        select endpoint, contact, dead_letters as "deadLetters", overdue, since, oldest_message_id as "oldestMessageId",
               last_error as "lastError", last_error_at as "lastErrorAt"
        from holdfast_internal.persisting_recipients()`,
    },
    [],
  )
}

/** Returns the operation's id, or null if there is nothing to redeliver. Index: dead_letters_critical. */
export async function resendCritical(client: ClientBase): Promise<number | null> {
  const { rows } = await client.query<{ operation: number | null }>(
    'select holdfast_internal.resend_critical() as operation',
  )
  return rows[0]?.operation ?? null
}
