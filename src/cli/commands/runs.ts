import type { Command } from 'commander'
import { operations } from '../../contract/operations.ts'
import { withApi } from '../connection/with-api.ts'
import { addBulkOptions, type BulkFlags, isOne, runBulk } from '../input/bulk.ts'
import { confirm } from '../interact/confirm.ts'
import { fieldsOf, formatFields, textOf } from '../output/field-list.ts'
import { addList } from '../output/noun.ts'

export function registerRuns(program: Command): void {
  const runs = program.command('runs').description('executions of jobs')
  addList(runs, {
    description: 'list runs, the newest first',
    operation: operations.runs.list,
    columns: () => [
      { title: 'ID', value: ({ id }) => id },
      { title: 'JOB', canShrink: true, value: ({ job }) => textOf(job) },
      { title: 'QUEUE', canShrink: true, isExtra: true, value: ({ queue }) => queue },
      { title: 'STATE', value: ({ state }) => state },
      { title: 'ATTEMPT', isNumber: true, value: ({ attempt }) => String(attempt) },
      { title: 'WORKER', canShrink: true, isExtra: true, value: ({ worker }) => textOf(worker) },
      { title: 'ERROR', canShrink: true, value: ({ error, errorCode }) => textOf(error ?? errorCode) },
    ],
    nothing: () => 'There are no such runs.',
  })
  runs
    .command('show')
    .description('show a run: state, logs, progress, result')
    .argument('<id>', 'run_…')
    .action((id: string, _flags: unknown, command: Command) =>
      withApi(command, async ({ client, output }) => {
        const run = await client.runs.get({ params: { id } })
        output.data(run, () => formatFields(output, fieldsOf(run)))
        if (!output.isJson && run.isUnhandled)
          output.message(`No live worker handles the job ${run.job}; the run starts when one joins.`)
      }),
    )
  const cancel = runs
    .command('cancel')
    .description('cancel a waiting run, or signal its worker; one, or many by a filter')
    .argument('[id]', 'run_…')
    .option('--reason <text>', 'kept with it and in the audit log')
  addBulkOptions(cancel, operations.runs.list).action(
    (id: string | undefined, flags: BulkFlags & { reason?: string }, command: Command) =>
      withApi(command, async (session) => {
        const said = flags.reason === undefined ? {} : { reason: flags.reason }
        if (!isOne(id, flags, ['reason'])) return runBulk(session, 'cancel_runs', flags, 'runs', said)
        await confirm(session, `This cancels 1 run, ${id}.`, flags.yes)
        const cancelled = await session.client.runs.cancel({ params: { id }, body: said })
        session.output.data(cancelled, () => `${id} ${cancelled.outcome}`)
      }),
  )
  runs
    .command('retry')
    .description('make a run due now')
    .argument('<id>', 'run_…')
    .action((id: string, _flags: unknown, command: Command) =>
      withApi(command, async ({ client, output }) => {
        const retried = await client.runs.retry({ params: { id } })
        output.data(retried, () => `${id} ${retried.isDueNow ? 'is due now' : 'is not scheduled for later'}`)
      }),
    )
}
