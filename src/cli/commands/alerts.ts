import type { Command } from 'commander'
import { operations } from '../../contract/operations.ts'
import { alertKinds, isAlertKind } from '../../core/alerts/alert-kinds.ts'
import { withApi } from '../connection/with-api.ts'
import { duration } from '../input/option-parsers.ts'
import { confirm, yesOption } from '../interact/confirm.ts'
import { fieldsOf, formatFields, textOf } from '../output/field-list.ts'
import { addList } from '../output/noun.ts'

/** With its unit: 900 alone says nothing. */
function thresholdText({ kind, threshold }: { readonly kind: string; readonly threshold: number }): string {
  const unit = isAlertKind(kind) ? alertKinds[kind].unit : 'count'
  if (unit === 'none') return ''
  if (unit === 'seconds') return `${threshold} s`
  if (unit === 'share') return `${Number((threshold * 100).toFixed(2))} %`
  return unit === 'per minute' ? `${threshold} per minute` : String(threshold)
}

interface SilenceFlags {
  readonly for?: number
  readonly note?: string
}

export function registerAlerts(program: Command): void {
  const alerts = program.command('alerts').description('current and past alerts, and who acknowledged them')
  addList(alerts, {
    description: 'list firing and resolved alerts, newest first',
    operation: operations.alerts.list,
    columns: (output) => [
      { title: 'ID', value: ({ id }) => id },
      { title: 'RULE', canShrink: true, value: ({ rule }) => rule },
      { title: 'SUBJECT', canShrink: true, value: ({ subject }) => textOf(subject) },
      { title: 'STATE', value: ({ state }) => output.paintData(state === 'firing' ? 'red' : 'dim', state) },
      { title: 'VALUE', isNumber: true, value: ({ value, threshold }) => `${value} > ${threshold}` },
      { title: 'SINCE', value: ({ since }) => output.when(since) },
      {
        title: 'ACKNOWLEDGED',
        canShrink: true,
        isExtra: true,
        value: ({ acknowledgedBy }) => textOf(acknowledgedBy),
      },
    ],
    nothing: () => 'There are no such alerts.',
  })
  alerts
    .command('ack')
    .description('acknowledge an alert: no more reminders')
    .argument('<id>', 'alt_…')
    .option('--note <text>', 'what is being done')
    .action((id: string, flags: { note?: string }, command: Command) =>
      withApi(command, async ({ client, output }) => {
        await client.alerts.acknowledge({ params: { id }, body: { ...flags } })
        output.data({ id }, () => `${id} acknowledged`)
      }),
    )
  alerts
    .command('unack')
    .description('undo an acknowledgement: reminders continue')
    .argument('<id>', 'alt_…')
    .action((id: string, _flags: object, command: Command) =>
      withApi(command, async ({ client, output }) => {
        await client.alerts.withdrawAcknowledgement({ params: { id } })
        output.data({ id }, () => `${id} is no longer acknowledged`)
      }),
    )
  addSilence(alerts, 'send no notifications about it for a while', 'id').action(
    (id: string, flags: SilenceFlags, command: Command) =>
      withApi(command, async ({ client, output }) => {
        await client.alerts.silence({ params: { id }, body: silenceBody(flags) })
        output.data({ id }, () => `${id} ${flags.for === undefined ? 'is no longer silenced' : 'silenced'}`)
      }),
  )
  registerRules(program)
}

function addSilence(noun: Command, description: string, argument: string): Command {
  return noun
    .command('silence')
    .description(`${description}; without --for, end the silence`)
    .argument(`<${argument}>`)
    .option('--for <time>', 'how long, like 30m, 12h or 7d', duration)
    .option('--note <text>', 'why')
}

function silenceBody({ for: forMs, note }: SilenceFlags) {
  const until = forMs === undefined ? null : new Date(Date.now() + forMs).toISOString()
  return { until, ...(note !== undefined && { note }) }
}

function registerRules(program: Command): void {
  const rules = program.command('alert-rules').description('the conditions that raise alerts')
  addList(rules, {
    description: 'list the rules; change them with `holdfast apply`',
    operation: operations.alerts.listRules,
    columns: (output) => [
      { title: 'NAME', canShrink: true, value: ({ name }) => name },
      { title: 'KIND', canShrink: true, value: ({ kind }) => kind },
      { title: 'THRESHOLD', isNumber: true, value: thresholdText },
      { title: 'SEVERITY', value: ({ severity }) => severity },
      { title: 'ENABLED', value: ({ enabled }) => (enabled ? 'yes' : 'no') },
      { title: 'SILENCED', isExtra: true, value: ({ silencedUntil }) => output.when(silencedUntil) },
    ],
    nothing: () => 'There are no rules.',
  })
  rules
    .command('show')
    .description('show one rule')
    .argument('<name>')
    .action((name: string, _flags: unknown, command: Command) =>
      withApi(command, async ({ client, output }) => {
        const rule = await client.alerts.getRule({ params: { name } })
        output.data(rule, () => formatFields(output, fieldsOf(rule)))
      }),
    )
  addSilence(rules, 'send no notifications of this rule for a while', 'name').action(
    (name: string, flags: SilenceFlags, command: Command) =>
      withApi(command, async ({ client, output }) => {
        await client.alerts.silenceRule({ params: { name }, body: silenceBody(flags) })
        output.data(
          { name },
          () => `${name} ${flags.for === undefined ? 'is no longer silenced' : 'silenced'}`,
        )
      }),
  )
  rules
    .command('delete')
    .description('delete a rule; its alerts end without a notification')
    .argument('<name>')
    .option(...yesOption)
    .action((name: string, flags: { yes?: boolean }, command: Command) =>
      withApi(command, async (session) => {
        await confirm(session, `This deletes the alert rule "${name}".`, flags.yes)
        await session.client.alerts.deleteRule({ params: { name } })
        session.output.data({ name }, () => `${name} deleted`)
      }),
    )
}
