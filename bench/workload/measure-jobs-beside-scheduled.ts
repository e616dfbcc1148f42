import { Client } from 'pg'
import { type Sample, type SampleContext, SUBJECT } from '../harness/row.ts'
import { checkpoint } from './checkpoint.ts'
import { measureProcessing } from './measure-processing.ts'
import { refreshStatistics } from './refresh-statistics.ts'

/** More due runs than in other rows, for a clock of three seconds instead of one: the machine's hiccups weigh less. */
const DUE_RUNS_FACTOR = 3

/**
 * Runs per second while as many runs as `backlogMessages` wait for tomorrow in the same queue, and without them.
 * Both arms write the million: a disk and caches that took one in are slower for a while, whatever has become of it.
 */
export async function measureJobsBesideScheduled(context: SampleContext): Promise<Sample> {
  const isBeside = context.arm === SUBJECT
  const sample = await measureProcessing(
    { ...context, arm: 'holdfast-jobs', messages: context.messages * DUE_RUNS_FACTOR },
    {
      prepare: () => scheduleForTomorrow(context, { keepsThem: isBeside }),
      // Rows that were just written: without it, the runs pay for writing them back.
      beforeStart: () => checkpoint(context.databaseUrl),
    },
  )
  return {
    ...sample,
    settings: { ...sample.settings, scheduledRuns: isBeside ? context.backlogMessages : 0 },
  }
}

async function scheduleForTomorrow(
  { databaseUrl, backlogMessages }: SampleContext,
  { keepsThem }: { keepsThem: boolean },
): Promise<void> {
  const client = new Client({ connectionString: databaseUrl })
  await client.connect()
  try {
    for (let stored = 0; stored < backlogMessages; stored += 10_000) {
      await client.query(
        `select count(*) from holdfast_internal.accept_runs(
           'bench', array_fill('{}'::text, array[10000]), array_fill('{"delayMs": 86400000}'::jsonb, array[10000]))`,
      )
    }
    // Before they may go: the first vacuum of a million writes them once more.
    await refreshStatistics(databaseUrl)
    await checkpoint(databaseUrl)
    if (!keepsThem) await client.query('truncate holdfast_internal.runs')
  } finally {
    await client.end()
  }
}
