import { HoldfastError } from '../core/errors.ts'
import { nearestName } from '../core/nearest-name.ts'
import { exampleUrl } from '../postgres/connect/database-url.ts'
import type { HoldfastOptions } from './holdfast-options.ts'

const known = {
  databaseUrl: true,
  handlers: true,
  transports: true,
  nodeName: true,
  isNameExclusive: true,
  maxConnections: true,
  limits: true,
  publishLine: true,
  logger: true,
  observer: true,
  metrics: true,
  keepsStatistics: true,
  broker: true,
  smtpUrl: true,
  runbookUrl: true,
  diskPath: true,
  maintenanceTasks: true,
  settings: true,
  settingSources: true,
  criticalResend: true,
  actor: true,
  allowNetworks: true,
  allowPorts: true,
  proxyUrl: true,
  judgesTargets: true,
  encryptionKey: true,
} satisfies Record<keyof HoldfastOptions, true>

/** Refuses what a call from JavaScript may pass by mistake: no options, a URL in their place, or a name that no option has. */
export function checkedHoldfastOptions(options: HoldfastOptions): HoldfastOptions {
  if (typeof options !== 'object' || options === null) {
    throw invalid(
      `new Holdfast(…) needs its options as an object, like new Holdfast({ databaseUrl: '${exampleUrl}' }).`,
    )
  }
  const names = Object.keys(known)
  for (const name of Object.keys(options)) {
    if (Object.hasOwn(known, name)) continue
    const meant = nearestName(name, names)
    const advice = meant === null ? `Its options are ${names.join(', ')}.` : `Did you mean ${meant}?`
    throw invalid(`new Holdfast(…) has no option ${name}. ${advice}`)
  }
  return options
}

function invalid(message: string): HoldfastError {
  return new HoldfastError('configuration_invalid', message)
}
