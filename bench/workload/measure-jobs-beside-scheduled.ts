import { Client } from 'pg'
import { type Sample, type SampleContext, SUBJECT } from '../harness/row.ts'
import { checkpoint } from './checkpoint.ts'
import { measureProcessing } from './measure-processing.ts'

/** Runs per second while as many runs as `backlogMessages` wait for tomorrow in the same queue, and without them. */
export async function measureJobsBesideScheduled(context: SampleContext): Promise<Sample> {
  const isBeside = context.arm === SUBJECT
  const sample = await measureProcessing(
    { ...context, arm: 'holdfast-jobs' },
    {
      prepare: async () => {
        if (isBeside) await scheduleForTomorrow(context)
      },
      // A million rows that were just written: without it, the runs pay for writing them back.
      beforeStart: () => checkpoint(context.databaseUrl),
    },
  )
  return {
    ...sample,
    settings: { ...sample.settings, scheduledRuns: isBeside ? context.backlogMessages : 0 },
  }
}

async function scheduleForTomorrow({ databaseUrl, backlogMessages }: SampleContext): Promise<void> {
  const client = new Client({ connectionString: databaseUrl })
  await client.connect()
  try {
    for (let stored = 0; stored < backlogMessages; stored += 10_000) {
      await client.query(
        `select count(*) from holdfast.accept_runs(
           'bench', array_fill('{}'::text, array[10000]), array_fill('{"delayMs": 86400000}'::jsonb, array[10000]))`,
      )
    }
  } finally {
    await client.end()
  }
}
