import { Client } from 'pg'
import { type Sample, type SampleContext, SUBJECT } from '../harness/row.ts'
import { checkpoint } from './checkpoint.ts'
import { measureProcessing } from './measure-processing.ts'
import { refreshStatistics } from './refresh-statistics.ts'

/** More due runs than in other rows, to measure three seconds instead of one: hiccups of the machine matter less. */
const DUE_RUNS_FACTOR = 3

/**
 * Runs per second while `backlogMessages` runs in the same queue are scheduled for tomorrow, and without them. Both arms write these runs, because
 * disk and caches are slower for a while after a million writes, even if the rows are gone.
 */
export async function measureJobsBesideScheduled(context: SampleContext): Promise<Sample> {
  const isBeside = context.arm === SUBJECT
  const sample = await measureProcessing(
    { ...context, arm: 'holdfast-jobs', messages: context.messages * DUE_RUNS_FACTOR },
    {
      prepare: () => scheduleForTomorrow(context, { keepsThem: isBeside }),
      // The rows were just written: without a checkpoint, the runs would pay for writing them back.
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
    // Before they are deleted: the first vacuum of a million rows rewrites them.
    await refreshStatistics(databaseUrl)
    await checkpoint(databaseUrl)
    if (!keepsThem) await client.query('truncate holdfast_internal.runs')
  } finally {
    await client.end()
  }
}
