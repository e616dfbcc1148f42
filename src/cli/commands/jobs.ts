import type { Command } from 'commander'
import { operations } from '../../contract/operations.ts'
import { withApi } from '../connection/with-api.ts'
import { collectText, instant, wholeNumber } from '../input/option-parsers.ts'
import { readJsonObject, readPayload } from '../input/read-json-argument.ts'
import { confirm, yesOption } from '../interact/confirm.ts'
import { fieldsOf, formatFields, textOf } from '../output/field-list.ts'
import { addList } from '../output/noun.ts'
import { given } from './endpoint-flags.ts'

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
    nothing: () => 'There are no jobs. A job appears when a worker that defines it starts.',
  })
  jobs
    .command('show')
    .description('show one job, and which settings override its code')
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
    .argument('[payload]', 'the input of the run: JSON in single quotes, @file, or - for standard input')
    .option('--payload <json|@file|->', 'the same as an option')
    .option('--reason <text>', 'kept with the run')
    .option('--worker <name>', 'only this worker may run it')
    .option('--require-tag <tag>', 'only workers with this tag may run it; repeat for more', collectText)
    .option('--tag <tag>', 'a tag to search by; repeat for more', collectText)
    .option('--correlation-id <id>', 'to find it by')
    .option('--priority <0-3>', '3 is the most urgent', wholeNumber)
    .option('--run-at <time>', 'run it at this time, or +10m from now', (text: string) =>
      instant(text, Date.now()),
    )
    .option('--delay-ms <number>', 'run it after this time', wholeNumber)
    .option('--expires-at <time>', 'do not run it after this time; same format as --run-at', (text: string) =>
      instant(text, Date.now()),
    )
    .option('--ordering-key <key>', 'runs with the same key are executed one after the other')
    .option('--concurrency-key <key>', 'few runs with the same key are executed at once')
    .option('--fair-key <key>', 'runs with different keys take turns')
    .option('--idempotency-key <key>', 'the same key with the same input is accepted once')
    .option('--tenant <tenant>', 'whose it is')
    .option('--unique-key <key>', 'while a run with this key has not ended, no other one is made')
    .option('--unique-for-ms <number>', 'no other run with that key is made for this time', wholeNumber)
    .option('--on-conflict <policy>', 'for a waiting run with that key: keep, replace or debounce')
    .option('--ttl-ms <number>', 'how long it may wait for its worker', wholeNumber)
    .action((name: string, input: string | undefined, flags: TriggerFlags, command: Command) => {
      if (input !== undefined && flags.payload !== undefined)
        command.error('error: give the input once, as an argument or with --payload', { exitCode: 2 })
      return withApi(command, async ({ client, output, prefix }) => {
        const { payload = input, tag: tags, requireTag: requireTags, ...rest } = flags
        const body = {
          ...given({ ...rest, tags, requireTags }),
          ...(payload !== undefined && { payload: await readPayload(payload) }),
        }
        const run = await client.jobs.trigger({ params: { name }, body })
        output.data(run, () => run.id)
        if (!output.isJson) output.message(`Follow it with: ${prefix} runs show ${run.id}`)
      })
    })
  jobs
    .command('delete')
    .description('delete a job and its schedules; the history of its runs stays')
    .argument('<name>')
    .option(...yesOption)
    .action((name: string, flags: { yes?: boolean }, command: Command) =>
      withApi(command, async (session) => {
        await session.client.jobs.get({ params: { name } })
        await confirm(session, `This deletes the job ${name} and its schedules.`, flags.yes)
        await session.client.jobs.delete({ params: { name } })
        session.output.data({ name }, () => `${name} deleted`)
      }),
    )
  for (const verb of ['enable', 'pause', 'disable'] as const) {
    jobs
      .command(verb)
      .description(
        verb === 'enable' ? 'let its runs continue' : `${verb} it: its runs wait until it is enabled`,
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

interface TriggerFlags {
  readonly payload?: string
  readonly reason?: string
  readonly worker?: string
  readonly requireTag?: string[]
  readonly tag?: string[]
  readonly correlationId?: string
  readonly priority?: number
  readonly runAt?: string
  readonly delayMs?: number
  readonly expiresAt?: string
  readonly orderingKey?: string
  readonly concurrencyKey?: string
  readonly fairKey?: string
  readonly idempotencyKey?: string
  readonly tenant?: string
  readonly ttlMs?: number
  readonly uniqueKey?: string
  readonly uniqueForMs?: number
  readonly onConflict?: 'keep' | 'replace' | 'debounce'
}

interface JobFlags {
  readonly queue?: string
  readonly cron?: string
  readonly timezone?: string
  readonly payload?: string
  readonly overlap?: 'skip' | 'queue' | 'allow'
  readonly catchUp?: 'one' | 'all' | 'none'
  readonly timeoutMs?: number
  readonly worker?: string
  readonly settings?: string
}

/** `create` and `update` take the same flags; a value set here overrides the job's code. */
function registerWrites(jobs: Command): void {
  for (const verb of ['create', 'update'] as const) {
    jobs
      .command(verb)
      .description(
        verb === 'create' ? 'register a job, and schedule it' : 'override settings of a job, or its schedule',
      )
      .argument('<name>')
      .option('--queue <name>', 'the queue of its runs')
      .option('--cron <expression>', 'when it runs; "none" removes its schedule')
      .option('--timezone <zone>', 'of the cron expression, like Europe/Amsterdam')
      .option('--payload <json|@file|->', 'the input of its scheduled runs')
      .option('--overlap <policy>', 'when the last run has not ended: skip, queue or allow')
      .option('--catch-up <policy>', 'after a downtime: one, all or none')
      .option('--timeout-ms <number>', 'how long a run may take', Number)
      .option('--worker <name>', 'the worker that executes its runs')
      .option('--settings <json|@file|->', 'any other settings, as in the API')
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
