import type { Command } from 'commander'
import type { ResultOf } from '../../contract/operation.ts'
import { operations } from '../../contract/operations.ts'
import { withApi } from '../connection/with-api.ts'
import { addFilters } from '../input/contract-filters.ts'
import { wholeNumber } from '../input/option-parsers.ts'
import { readPayload } from '../input/read-json-argument.ts'
import { confirm, yesOption } from '../interact/confirm.ts'
import { deliveryColumns, describeAttempts } from '../output/attempt-table.ts'
import { countOf } from '../output/count-of.ts'
import { fieldsOf, formatFields, textOf } from '../output/field-list.ts'
import { addList } from '../output/noun.ts'
import type { Output } from '../output/output.ts'
import type { Column } from '../output/table.ts'
import { formatBytes } from '../output/units.ts'
import { addMessageOptions, type MessageFlags, readMessageFlags } from './message-flags.ts'

const batchEvents = 1000

export function registerEvents(program: Command): void {
  const events = program.command('events').description('publish and show events')
  registerPublish(events)
  addList(events, {
    description: 'list events, the newest first',
    operation: operations.storedEvents.list,
    columns: eventColumns,
    nothing: (prefix) =>
      `There are no such events. Publish one with: ${prefix} events publish order.created '{"id":17}'`,
  })
  events
    .command('show')
    .description('show an event with its deliveries and their attempts')
    .argument('<id>', 'msg_…')
    .action((id: string, _flags: unknown, command: Command) =>
      withApi(command, async ({ client, output }) => {
        const event = await client.storedEvents.get({ params: { id } })
        output.data(event, () => {
          const { deliveries, ...rest } = event
          return [
            formatFields(output, fieldsOf(rest)),
            ...(deliveries.length === 0 ? [] : [output.tableText(deliveryColumns(output), deliveries)]),
            ...describeAttempts(
              output,
              deliveries.flatMap(({ endpoint, attempts }) => attempts.map((each) => ({ ...each, endpoint }))),
            ),
          ].join('\n\n')
        })
      }),
    )
  registerSearch(events)
  registerErase(events)
}

const searchedRows = 50

/** Searches step by step, until enough events are found or all have been examined. */
function registerSearch(events: Command): void {
  const search = events
    .command('search')
    .description('search payloads, the newest first: --path with --equals, or --text')
  addFilters(search, operations.storedEvents.search)
  search
    .option('--limit <number>', `stop when so many are found (${searchedRows})`, wholeNumber)
    .option('--cursor <cursor>', 'continue where an earlier search stopped')
    .action((flags: SearchFlags, command: Command) =>
      withApi(command, async ({ client, output, prefix }) => {
        const { limit = searchedRows, cursor, ...filter } = flags
        const found: EventRow[] = []
        let scanned = 0
        let total: number | null = null
        let next: string | null = cursor ?? null
        do {
          const step = await client.storedEvents.search({
            query: { ...filter, limit: limit - found.length, ...(next !== null && { cursor: next }) },
          })
          found.push(...step.data)
          scanned += step.scanned
          total = step.total
          next = step.nextCursor
        } while (next !== null && found.length < limit)
        if (output.isJson) {
          output.line(JSON.stringify({ data: found, nextCursor: next, scanned, total }))
          return
        }
        if (found.length > 0) output.table(eventColumns(output), found)
        output.message(
          `${countOf(found.length, 'events')} found among ${countOf(scanned, 'events')} examined.`,
        )
        if (next !== null)
          output.message(
            `Older events were not examined; continue with: ${prefix} events search … --cursor ${next}`,
          )
      }),
    )
}

interface SearchFlags extends Readonly<Record<string, unknown>> {
  readonly limit?: number
  readonly cursor?: string
}

type EventRow = ResultOf<typeof operations.storedEvents.list>['data'][number]

function eventColumns(output: Output): readonly Column<EventRow>[] {
  return [
    { title: 'ID', value: ({ id }) => id },
    { title: 'TYPE', canShrink: true, value: ({ type }) => textOf(type) },
    {
      title: 'STATE',
      value: ({ state }) => output.paintData(state === 'unrouted' ? 'yellow' : 'green', state),
    },
    { title: 'TENANT', canShrink: true, isExtra: true, value: ({ tenant }) => textOf(tenant) },
    { title: 'SIZE', isNumber: true, value: ({ sizeBytes }) => formatBytes(sizeBytes) },
    { title: 'CREATED', value: ({ createdAt }) => output.when(createdAt) },
  ]
}

function registerErase(events: Command): void {
  events
    .command('erase')
    .description(
      "remove an event's payload permanently: archive, dead letters, stored requests and responses",
    )
    .argument('<id>', 'msg_…, or run_… for the input of a run')
    .requiredOption('--reason <text>', 'why, for the audit log')
    .option('--force', 'also with pending deliveries, which end as cancelled')
    .option(...yesOption)
    .action((id: string, flags: { reason: string; force?: boolean; yes?: boolean }, command: Command) =>
      withApi(command, async (session) => {
        await confirm(
          session,
          `This erases the payload of ${id} permanently. It can't be restored.`,
          flags.yes,
        )
        const body = { reason: flags.reason, ...(flags.force === true && { force: true }) }
        const erased = await session.client.storedEvents.erase({ params: { id }, body })
        session.output.data(
          erased,
          () =>
            `${erased.id} is erased: ${countOf(erased.cancelled, 'deliveries')} cancelled, ${countOf(erased.deadLetters, 'dead letters')} settled`,
        )
      }),
    )
}

function registerPublish(events: Command): void {
  const publish = events
    .command('publish')
    .description('publish an event; every matching route gets a delivery')
    .argument('<type>', 'like order.created')
    .argument('<payload>', 'JSON in single quotes, @file, or - for standard input')
  addMessageOptions(publish).action((type: string, text: string, flags: MessageFlags, command: Command) =>
    withApi(command, async ({ client, output, prefix }) => {
      const options = readMessageFlags(flags)
      const payload = await readPayload(text)
      if (flags.count > 1) {
        const published = { count: 0, deliveries: 0 }
        for (let left = flags.count; left > 0; left -= batchEvents) {
          const event = { ...options, type, payload }
          const batch = await client.publishBatch(
            Array.from({ length: Math.min(left, batchEvents) }, () => event),
          )
          published.count += batch.length
          for (const { deliveries } of batch) published.deliveries += deliveries
        }
        output.data(
          published,
          () =>
            `${countOf(published.count, 'events')} accepted, ${countOf(published.deliveries, 'deliveries')}`,
        )
        return
      }
      const { type: _, ...rest } = options
      const published = await client.publish(type, payload, rest)
      output.data(published, () => published.id)
      if (output.isJson) return
      output.message(
        published.deliveries === 0
          ? `No route matches it; it is stored as unrouted. See: ${prefix} routes list`
          : `${countOf(published.deliveries, 'deliveries')}. Follow it with: ${prefix} events show ${published.id}`,
      )
    }),
  )
}
