import type { Database } from './database.ts'

/** A stream of live traffic is open: nodes report their attempts, and workers the runs that end, for as many milliseconds as the payload says. */
export const tailWantedChannel = 'holdfast_tail'
/** Attempts reported by nodes while a stream is open. */
export const attemptsChannel = 'holdfast_attempts'
/** Ended runs reported by workers while a stream is open. */
export const runsChannel = 'holdfast_runs'

export async function wantTail(database: Database, forMs: number): Promise<void> {
  await database.query({ name: 'want_tail', text: 'select pg_notify($1, $2)' }, [
    tailWantedChannel,
    String(forMs),
  ])
}

/** `channel`: one of those above. */
export async function notifyFollowers(database: Database, channel: string, payload: string): Promise<void> {
  await database.query({ name: 'notify_followers', text: 'select pg_notify($1, $2)' }, [channel, payload])
}
