import type { Command } from 'commander'
import { operations } from '../../contract/operations.ts'
import { withApi } from '../connection/with-api.ts'
import { fieldsOf, formatFields, textOf } from '../field-list.ts'
import { addList } from '../noun.ts'
import { readJsonObject, readPayload } from '../read-json-argument.ts'

export function registerJobs(program: Command): void {
  const jobs = program.command('jobs').description('background jobs, and when they run')
  addList(jobs, {
    description: 'list jobs by name',
    operation: operations.jobs.list,
    columns: (output) => [
      { title: 'NAME', canShrink: true, value: ({ name }) => name },
      { title: 'QUEUE', canShrink: true, value: ({ queue }) => queue },
      {
        title: 'STATE',
        value: ({ state }) => output.paintData(state === 'active' ? 'green' : 'yellow', state),
      },
      { title: 'CRON', canShrink: true, value: ({ cron }) => textOf(cron) },
      { title: 'NEXT', value: ({ nextRunAt }) => output.when(nextRunAt) },
      { title: 'FAILURES', isNumber: true, value: ({ failures }) => String(failures) },
    ],
    nothing: () => 'There are no jobs. A worker that defines one makes it known.',
  })
  jobs
    .command('show')
    .description('show one job, and what was set here over what its code says')
    .argument('<name>')
    .action((name: string, _flags: unknown, command: Command) =>
      withApi(command, async ({ client, output }) => {
        const job = await client.jobs.get({ params: { name } })
        output.data(job, () => formatFields(output, fieldsOf(job)))
      }),
    )
  registerWrites(jobs)
  jobs
    .command('trigger')
    .description('run a job now')
    .argument('<name>')
    .option('--payload <json|@file|->', 'what the run gets')
    .option('--reason <text>', 'kept in the audit log')
    .action((name: string, flags: { payload?: string; reason?: string }, command: Command) =>
      withApi(command, async ({ client, output, prefix }) => {
        const { payload, reason } = flags
        const body = {
          ...(payload !== undefined && { payload: await readPayload(payload) }),
          ...(reason !== undefined && { reason }),
        }
        const run = await client.jobs.trigger({ params: { name }, body })
        output.data(run, () => run.id)
        if (!output.isJson) output.message(`Follow it with: ${prefix} runs show ${run.id}`)
      }),
    )
  for (const verb of ['enable', 'pause', 'disable'] as const) {
    jobs
      .command(verb)
      .description(
        verb === 'enable' ? 'let its runs go on' : `${verb} it: its runs wait until somebody enables it`,
      )
      .argument('<name>')
      .option('--reason <text>', 'kept in the audit log')
      .action((name: string, flags: { reason?: string }, command: Command) =>
        withApi(command, async ({ client, output }) => {
          const job = await client.jobs[verb]({ params: { name }, body: { ...flags } })
          output.data(job, () => `${name} ${job.state}`)
        }),
      )
  }
}

interface JobFlags {
  readonly queue?: string
  readonly cron?: string
  readonly timezone?: string
  readonly payload?: string
  readonly overlap?: 'skip' | 'queue' | 'allow'
  readonly catchUp?: 'one' | 'all' | 'none'
  readonly timeoutMs?: number
  readonly settings?: string
}

/** `create` and `update` take the same flags; what is set here beats what the job's code says. */
function registerWrites(jobs: Command): void {
  for (const verb of ['create', 'update'] as const) {
    jobs
      .command(verb)
      .description(
        verb === 'create'
          ? 'make a job known, and schedule it'
          : 'override settings of a job, or its schedule',
      )
      .argument('<name>')
      .option('--queue <name>', 'the queue of its runs')
      .option('--cron <expression>', 'when it runs; "none" ends its schedule')
      .option('--timezone <zone>', 'of the cron expression, like Europe/Amsterdam')
      .option('--payload <json|@file|->', 'what its scheduled runs get')
      .option('--overlap <policy>', 'when the last run is still owed: skip, queue or allow')
      .option('--catch-up <policy>', 'after a downtime: one, all or none')
      .option('--timeout-ms <number>', 'how long a run may take', Number)
      .option('--settings <json|@file|->', 'any other settings, as the API takes them')
      .action((name: string, flags: JobFlags, command: Command) =>
        withApi(command, async ({ client, output }) => {
          const { settings, cron, payload, ...rest } = flags
          const body = {
            ...(settings !== undefined && (await readJsonObject(settings, 'settings'))),
            ...rest,
            ...(cron !== undefined && { cron: cron === 'none' ? null : cron }),
            ...(payload !== undefined && { payload: await readPayload(payload) }),
          }
          const job =
            verb === 'create'
              ? await client.jobs.create({ body: { ...body, name } })
              : await client.jobs.update({ params: { name }, body })
          output.data(job, () => formatFields(output, fieldsOf(job)))
        }),
      )
  }
}
