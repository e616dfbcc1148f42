import type { Command } from 'commander'
import type { Change } from '../../client/read-changes.ts'
import { withApi } from '../connection/with-api.ts'
import { stopOnSignals } from '../interact/watch.ts'
import { textOf } from '../output/field-list.ts'
import type { Output } from '../output/output.ts'
import type { Colour } from '../output/paint.ts'
import { printable } from '../output/table.ts'

interface TailFlags {
  readonly endpoint?: string
  readonly failures?: boolean
}

type Data = Readonly<Record<string, unknown>>

const outcomeColours: Readonly<Record<string, Colour>> = {
  success: 'green',
  succeeded: 'green',
  retryable: 'yellow',
  throttled: 'yellow',
}

export function registerTail(program: Command): void {
  program
    .command('tail')
    .description('show live traffic: attempts, ended runs, dead letters, changes; until Ctrl-C')
    .option('--endpoint <name>', 'only deliveries to this endpoint')
    .option('--failures', 'only failures')
    .action((flags: TailFlags, command: Command) =>
      withApi(command, async ({ client, output, api }) => {
        const stop = new AbortController()
        stopOnSignals(stop)
        if (!output.isJson) output.message(`Following ${api.url}. Stop with Ctrl-C.`)
        for await (const change of client.changes({ signal: stop.signal })) {
          for (const each of linesOf(change)) {
            if (!isWanted(each, flags)) continue
            output.data({ event: each.event, ...each.data }, () => format(output, each))
          }
        }
      }),
    )
}

interface TailLine {
  readonly event: string
  readonly data: Data
}

/** One event contains several attempts or runs; totals are only for dashboards. */
function linesOf({ event, data }: Change): TailLine[] {
  if (event === 'totals') return []
  if (event !== 'attempts' && event !== 'runs') return [{ event, data: data as Data }]
  const {
    attempts = [],
    runs = [],
    leftOut = 0,
  } = data as {
    attempts?: Data[]
    runs?: Data[]
    leftOut?: number
  }
  return [
    ...attempts.map((attempt) => ({ event: 'attempt', data: attempt })),
    ...runs.map((run) => ({ event: 'run', data: run })),
    ...(leftOut > 0 ? [{ event: 'left_out', data: { count: leftOut } }] : []),
  ]
}

function isWanted({ event, data }: TailLine, { endpoint, failures }: TailFlags): boolean {
  if (endpoint !== undefined && data['endpoint'] !== endpoint) return false
  if (failures !== true) return true
  if (event === 'run') return data['outcome'] !== 'succeeded'
  return event === 'dead_letter' || (event === 'attempt' && data['outcome'] !== 'success')
}

function format(output: Output, { event, data }: TailLine): string {
  const at = output.paintData('dim', textOf(data['at']).slice(11, 23))
  const text = (field: string) => textOf(data[field])
  if (event === 'attempt') {
    const outcome = text('outcome')
    const result = output.paintData(outcomeColours[outcome] ?? 'red', outcome)
    const error = text('error')
    const told = [at, text('endpoint'), '←', text('messageId'), text('eventType'), result, text('statusCode')]
    const took = `${text('durationMs')} ms, attempt ${text('attempt')}`
    return `${told.filter((part) => part !== '').join(' ')} ${took}${error === '' ? '' : `: ${error}`}`
  }
  if (event === 'run') {
    const outcome = text('outcome')
    const took = data['durationMs'] === null ? '' : ` ${text('durationMs')} ms`
    const told = [at, text('job'), text('runId'), output.paintData(outcomeColours[outcome] ?? 'red', outcome)]
    return `${told.join(' ')}${took}, attempt ${text('attempt')}${text('error') === '' ? '' : `: ${text('error')}`}`
  }
  if (event === 'dead_letter') {
    return `${at} ${output.paintData('red', 'dead letter')} ${text('id')} ${text('endpoint')}: ${text('reason')}`
  }
  if (event === 'change') return `${at} ${output.paintData('cyan', text('action'))} ${text('subject')}`
  if (event === 'left_out') return output.paintData('dim', `… and ${text('count')} more attempts`)
  return `${printable(event)} ${printable(JSON.stringify(data))}`
}
