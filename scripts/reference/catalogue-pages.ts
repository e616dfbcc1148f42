import { errorCatalogue } from '../../src/core/errors.ts'
import { metricCatalogue, metricPrefix } from '../../src/observe/metrics/catalogue.ts'
import { codeBySqlState } from '../../src/storage/translate-error.ts'
import { code, table } from './table.ts'

export function errorsPage(): string {
  const rows = Object.entries(errorCatalogue).map(([name, { status, isRetryable }]) => {
    const states = Object.entries(codeBySqlState).flatMap(([state, each]) =>
      each === name ? [code(state)] : [],
    )
    return [
      `[\`${name}\`](../errors.md#${name})`,
      String(status),
      isRetryable ? 'yes' : 'no',
      states.join(', '),
    ]
  })
  return table(['code', 'HTTP status', 'can a retry help', 'SQLSTATE'], rows)
}

export function metricsPage(): string {
  const rows = Object.entries(metricCatalogue).map(([name, { type, help }]) => [
    code(metricPrefix + name),
    type,
    help,
  ])
  return table(['metric', 'type', 'what it says'], rows)
}
