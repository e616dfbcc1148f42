import type { Command } from 'commander'
import { operations } from '../../contract/operations.ts'
import { withApi } from '../connection/with-api.ts'
import { decimalNumber, wholeNumber } from '../input/option-parsers.ts'
import { fieldsOf, formatFields, textOf } from '../output/field-list.ts'
import { addList } from '../output/noun.ts'
import { given } from './endpoint-flags.ts'

export function registerQueues(program: Command): void {
  const queues = program.command('queues').description('queues of runs, shared by workers')
  addList(queues, {
    description: 'list queues by name',
    operation: operations.jobs.listQueues,
    columns: (output) => [
      { title: 'NAME', canShrink: true, value: ({ name }) => name },
      {
        title: 'STATE',
        value: ({ state }) => output.paintData(state === 'active' ? 'green' : 'yellow', state),
      },
      { title: 'PENDING', isNumber: true, value: ({ owed }) => String(owed) },
      { title: 'OLDEST', isNumber: true, value: ({ oldestWaitingSince }) => output.when(oldestWaitingSince) },
      {
        title: 'PER MIN',
        isNumber: true,
        value: ({ succeededPerMinute }) => String(Math.round(succeededPerMinute)),
      },
      { title: 'CONCURRENCY', isNumber: true, value: ({ concurrency }) => textOf(concurrency) },
      {
        title: 'RATE',
        isNumber: true,
        value: ({ ratePerSecond }) => (ratePerSecond === null ? '' : `${ratePerSecond}/s`),
      },
      { title: 'DEAD', isNumber: true, value: ({ deadLetters }) => String(deadLetters) },
      {
        title: 'REASON',
        canShrink: true,
        value: (queue) =>
          output.paintData('yellow', [queue.stateReason, unhandledText(queue)].filter(Boolean).join('; ')),
      },
    ],
    nothing: () => 'There are no queues. A queue appears with the first job that uses it.',
  })
  queues
    .command('show')
    .description('show one queue, and how many runs it has')
    .argument('<name>')
    .action((name: string, _flags: unknown, command: Command) =>
      withApi(command, async ({ client, output }) => {
        const queue = await client.jobs.getQueue({ params: { name } })
        output.data(queue, () => formatFields(output, fieldsOf(queue)))
      }),
    )
  queues
    .command('limit')
    .description('limit a queue across all workers; an omitted limit is removed')
    .argument('<name>')
    .option('--concurrency <number>', 'runs at once', wholeNumber)
    .option('--rate <number>', 'runs started per second', decimalNumber)
    .option('--reason <text>', 'kept in the audit log')
    .action((name: string, flags: LimitFlags, command: Command) =>
      withApi(command, async ({ client, output }) => {
        const limits = given({ concurrency: flags.concurrency, ratePerSecond: flags.rate })
        await client.jobs.limitQueue({
          params: { name },
          body: { ...limits, ...given({ reason: flags.reason }) },
        })
        output.data({ name, ...limits }, () => describeLimits(name, flags))
      }),
    )
  for (const verb of ['pause', 'resume'] as const) {
    queues
      .command(verb)
      .description(
        verb === 'pause'
          ? 'stop workers from claiming its runs; waiting runs are kept'
          : 'let workers claim from it again',
      )
      .argument('<name>')
      .option('--reason <text>', 'kept in the audit log')
      .action((name: string, flags: { reason?: string }, command: Command) =>
        withApi(command, async ({ client, output }) => {
          await client.jobs[`${verb}Queue`]({ params: { name }, body: { ...flags } })
          output.data({ name }, () => `${name} ${verb}d`)
        }),
      )
  }
}

/** Empty if a worker handles every waiting run. */
function unhandledText({ unhandled }: { unhandled: readonly { job: string; runs: number }[] }): string {
  return unhandled.map(({ job, runs }) => `no worker handles ${job} (${runs} waiting)`).join('; ')
}

interface LimitFlags {
  readonly concurrency?: number
  readonly rate?: number
  readonly reason?: string
}

function describeLimits(name: string, limits: { concurrency?: number; rate?: number }): string {
  const { concurrency, rate } = limits
  const parts = [
    ...(concurrency === undefined ? [] : [`${concurrency} runs at once`]),
    ...(rate === undefined ? [] : [`${rate} a second`]),
  ]
  return `${name} ${parts.length === 0 ? 'has no limits' : `limited to ${parts.join(', ')}`}`
}
