import type { Command } from 'commander'
import type { BodyOf } from '../../contract/operation.ts'
import { type Operations, operations } from '../../contract/operations.ts'
import { withApi } from '../connection/with-api.ts'
import { duration, instant } from '../input/option-parsers.ts'
import { readJsonObject, readPayload } from '../input/read-json-argument.ts'
import { confirm, yesOption } from '../interact/confirm.ts'
import { fieldsOf, formatFields, textOf } from '../output/field-list.ts'
import { addList } from '../output/noun.ts'
import { formatDuration } from '../output/units.ts'
import { given } from './endpoint-flags.ts'

interface ScheduleFlags {
  readonly job: string
  readonly cron?: string
  readonly every?: number
  readonly at?: string
  readonly timezone?: string
  readonly payload?: string
  readonly runOptions?: string
  readonly overlap?: string
  readonly catchUp?: string
}

export function registerSchedules(program: Command): void {
  const schedules = program.command('schedules').description('when jobs run automatically')
  addList(schedules, {
    description: 'list schedules by name',
    operation: operations.schedules.list,
    columns: (output) => [
      { title: 'NAME', canShrink: true, value: ({ name }) => name },
      { title: 'JOB', canShrink: true, value: ({ job }) => job },
      {
        title: 'STATE',
        value: ({ isPaused }) =>
          isPaused ? output.paintData('yellow', 'paused') : output.paintData('green', 'active'),
      },
      { title: 'WHEN', canShrink: true, value: whenOf },
      { title: 'NEXT', value: ({ isPaused, nextAt }) => (isPaused ? '' : output.when(nextAt)) },
      { title: 'LAST', isExtra: true, value: ({ lastAt }) => output.when(lastAt) },
      { title: 'FIRED', isExtra: true, isNumber: true, value: ({ fired }) => String(fired) },
      { title: 'REASON', canShrink: true, isExtra: true, value: ({ pauseReason }) => textOf(pauseReason) },
    ],
    nothing: (prefix) =>
      `There are no schedules. Create one with: ${prefix} schedules set nightly --job <name> --cron '0 3 * * *'`,
  })
  schedules
    .command('show')
    .description('show one schedule, and its next ten ticks')
    .argument('<name>')
    .action((name: string, _flags: unknown, command: Command) =>
      withApi(command, async ({ client, output }) => {
        const { next, ...schedule } = await client.schedules.get({ params: { name } })
        output.data({ ...schedule, next }, () =>
          formatFields(output, [
            ...fieldsOf(schedule),
            ...next.map((at, index): [string, string] => [index === 0 ? 'next' : ' ', at.toISOString()]),
          ]),
        )
      }),
    )
  registerSet(schedules)
  registerSwitches(schedules)
  schedules
    .command('delete')
    .description('delete a schedule; its existing runs stay')
    .argument('<name>')
    .option(...yesOption)
    .action((name: string, flags: { yes?: boolean }, command: Command) =>
      withApi(command, async (session) => {
        await confirm(session, `This deletes the schedule "${name}".`, flags.yes)
        await session.client.schedules.delete({ params: { name } })
        session.output.data({ name }, () => `${name} deleted`)
      }),
    )
}

function registerSet(schedules: Command): void {
  schedules
    .command('set')
    .description('create or replace a schedule: exactly one of --cron, --every and --at')
    .argument('<name>')
    .requiredOption('--job <name>', 'the job that it runs')
    .option('--cron <expression>', 'five fields, or six with seconds in front')
    .option('--every <time>', 'an interval, like 45s, 15m, 12h or 1d', duration)
    .option('--at <time>', 'once: ISO 8601, or relative to now like +30s, +10m, +2h, +1d', (text) =>
      instant(text, Date.now()),
    )
    .option('--timezone <zone>', 'of the cron expression, like Europe/Amsterdam')
    .option('--payload <json|@file|->', 'the input of its runs')
    .option('--run-options <json|@file>', 'options of its runs, like {"priority":3,"requireTags":["gpu"]}')
    .option('--overlap <policy>', 'when the last run has not ended: skip, queue or allow')
    .option('--catch-up <policy>', 'after a downtime: one, all or none')
    .action((name: string, flags: ScheduleFlags, command: Command) =>
      withApi(command, async ({ client, output }) => {
        const { every: everyMs, at: runAt, payload, runOptions, ...rest } = flags
        const body = {
          ...given({ ...rest, everyMs, runAt }),
          ...(payload !== undefined && { payload: await readPayload(payload) }),
          ...(runOptions !== undefined && { options: await readJsonObject(runOptions, '--run-options') }),
        } as BodyOf<Operations['schedules']['put']>
        const schedule = await client.schedules.put({ params: { name }, body })
        output.data(schedule, () => `${name} set, next at ${textOf(schedule.nextAt)}`)
      }),
    )
}

function registerSwitches(schedules: Command): void {
  for (const verb of ['pause', 'resume'] as const) {
    schedules
      .command(verb)
      .description(verb === 'pause' ? 'stop the schedule' : 'continue with the next tick')
      .argument('<name>')
      .option('--reason <text>', 'kept in the audit log')
      .action((name: string, flags: { reason?: string }, command: Command) =>
        withApi(command, async ({ client, output }) => {
          const schedule = await client.schedules[verb]({ params: { name }, body: { ...flags } })
          output.data(schedule, () =>
            schedule.isPaused ? `${name} paused` : `${name} active, next at ${textOf(schedule.nextAt)}`,
          )
        }),
      )
  }
}

interface Timing {
  readonly cron: string | null
  readonly timezone: string
  readonly everyMs: number | null
  readonly runAt: Date | null
}

function whenOf({ cron, timezone, everyMs, runAt }: Timing): string {
  if (cron !== null) return timezone === 'UTC' ? textOf(cron) : textOf(`${cron} ${timezone}`)
  return everyMs === null ? `once ${textOf(runAt)}` : `every ${formatDuration(everyMs)}`
}
