import type { ResultOf } from '../../contract/operation.ts'
import type { Operations } from '../../contract/operations.ts'
import { responseFields } from './exchange-fields.ts'
import { formatFields, textOf } from './field-list.ts'
import type { Output } from './output.ts'
import type { Colour } from './paint.ts'
import type { Column } from './table.ts'
import { formatDuration } from './units.ts'

type Delivery = ResultOf<Operations['deliveries']['list']>['data'][number]
type Attempt = ResultOf<Operations['deliveries']['get']>['attempts'][number]
type Aimed = Attempt & { readonly endpoint?: string | null }

const colours: Readonly<Record<Delivery['state'] | Attempt['outcome'], Colour>> = {
  pending: 'cyan',
  in_flight: 'cyan',
  succeeded: 'green',
  success: 'green',
  retryable: 'yellow',
  throttled: 'yellow',
  interrupted: 'yellow',
  dead: 'red',
  permanent: 'red',
  gone: 'red',
  expired: 'red',
  cancelled: 'dim',
  dropped: 'dim',
  skipped: 'dim',
}

export function deliveryColumns(output: Output): Column<Delivery>[] {
  return [
    { title: 'DELIVERY', value: ({ id }) => id },
    { title: 'ENDPOINT', canShrink: true, value: ({ endpoint }) => endpoint ?? '(deleted)' },
    { title: 'TYPE', canShrink: true, isExtra: true, value: ({ eventType }) => textOf(eventType) },
    { title: 'STATE', value: ({ state }) => output.paintData(colours[state], state) },
    { title: 'ATTEMPTS', isNumber: true, value: ({ attempt }) => String(attempt) },
    { title: 'NEXT', value: ({ nextAttemptAt }) => output.when(nextAttemptAt) },
    {
      title: 'LAST',
      canShrink: true,
      value: ({ statusCode, errorCode }) => textOf(errorCode ?? (statusCode === null ? '' : `${statusCode}`)),
    },
  ]
}

/**
 * A table of attempts, and the response to the last attempt of each delivery; nothing if there was no attempt. With several deliveries, each attempt
 * names its endpoint.
 */
export function describeAttempts(output: Output, attempts: readonly Aimed[]): string[] {
  if (attempts.length === 0) return []
  const isOfMany = attempts.some(({ endpoint }) => endpoint !== attempts[0]?.endpoint)
  const columns: Column<Aimed>[] = [
    ...(isOfMany
      ? [{ title: 'ENDPOINT', canShrink: true, value: ({ endpoint }: Aimed) => endpoint ?? '(deleted)' }]
      : []),
    { title: 'ATTEMPT', isNumber: true, value: ({ attempt }) => String(attempt) },
    { title: 'STARTED', value: ({ startedAt }) => output.when(startedAt) },
    {
      title: 'TOOK',
      isNumber: true,
      value: ({ durationMs }) => (durationMs === null ? '' : formatDuration(durationMs)),
    },
    { title: 'OUTCOME', value: ({ outcome }) => output.paintData(colours[outcome], outcome) },
    { title: 'STATUS', isNumber: true, value: ({ statusCode }) => textOf(statusCode) },
    { title: 'ERROR', canShrink: true, value: ({ error, errorCode }) => textOf(error ?? errorCode) },
  ]
  return [
    output.tableText(columns, attempts),
    ...lastAnswers(attempts).map(({ endpoint, detail }) => {
      const fields = responseFields(detail?.['response'] as Record<string, unknown>)
      return formatFields(output, isOfMany ? [['endpoint', endpoint ?? '(deleted)'], ...fields] : fields)
    }),
  ]
}

/** The last attempt with a stored response, for each delivery. */
function lastAnswers(attempts: readonly Aimed[]): Aimed[] {
  const last = new Map<string | null, Aimed>()
  for (const attempt of attempts) {
    if (attempt.detail?.['response'] !== undefined) last.set(attempt.deliveryId, attempt)
  }
  return [...last.values()]
}
