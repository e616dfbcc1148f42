import type { Database } from './database.ts'

/** Somebody follows the traffic: nodes tell what they attempt for as many milliseconds as the payload says. */
export const tailWantedChannel = 'holdfast_tail'
/** What nodes attempt, while somebody follows. */
export const attemptsChannel = 'holdfast_attempts'

export async function wantTail(database: Database, forMs: number): Promise<void> {
  await database.query({ name: 'want_tail', text: 'select pg_notify($1, $2)' }, [
    tailWantedChannel,
    String(forMs),
  ])
}

export async function notifyAttempts(database: Database, payload: string): Promise<void> {
  await database.query({ name: 'notify_attempts', text: 'select pg_notify($1, $2)' }, [
    attemptsChannel,
    payload,
  ])
}
