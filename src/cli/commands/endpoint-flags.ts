import type { Command } from 'commander'
import type { EndpointChanges } from '../../core/endpoints/endpoint-types.ts'
import { presetNames } from '../../core/endpoints/presets.ts'
import { collectHeader, collectText, decimalNumber, wholeNumber } from '../input/option-parsers.ts'
import { readJsonObject } from '../input/read-json-argument.ts'

export interface EndpointFlags {
  readonly url?: string
  readonly transport?: string
  readonly exchange?: string
  readonly routingKey?: string
  readonly username?: string
  readonly preset?: string
  readonly method?: string
  readonly header?: Readonly<Record<string, string>>
  readonly plainHeader?: readonly string[]
  readonly timeoutMs?: number
  readonly concurrency?: number
  readonly rate?: number
  readonly maxPending?: number
  readonly maxRetries?: number
  readonly onDead?: string
  readonly tag?: readonly string[]
  readonly tenant?: string
  readonly contact?: string
  readonly eventType?: readonly string[]
  readonly config?: string
  readonly settings?: string
}

/** The settings of an endpoint as options of `create` and `update`. */
export function addEndpointOptions(command: Command): Command {
  return command
    .option('--url <url>', 'the URL that the http transport sends to, or the broker of the amqp transport')
    .option('--transport <name>', 'http (default), function, smtp or amqp')
    .option('--exchange <name>', 'the exchange that the amqp transport publishes to')
    .option(
      '--routing-key <template>',
      "its routing key, like '{{ $eventType }}' (default: the event's type)",
    )
    .option('--username <name>', "the broker's user; its password goes into --config @file")
    .option('--preset <name>', presetNames.join(', '))
    .option('--method <method>', 'POST (default), PUT, PATCH, DELETE or GET')
    .option('--header <name: value>', 'a header for each request; repeat for more', collectHeader)
    .option(
      '--plain-header <name>',
      'a header whose value is no secret and may be shown; repeat for more',
      collectText,
    )
    .option('--timeout-ms <number>', 'how long one attempt may take', wholeNumber)
    .option('--concurrency <number>', 'attempts at once', wholeNumber)
    .option('--rate <number>', 'attempts a second', decimalNumber)
    .option('--max-pending <number>', 'the most pending deliveries', wholeNumber)
    .option('--max-retries <number>', 'attempts after the first one', wholeNumber)
    .option('--on-dead <what>', 'continue (default) or block: what a dead letter does to its ordering key')
    .option('--tag <tag>', 'repeat for more', collectText)
    .option('--tenant <tenant>', 'only events of this tenant')
    .option('--contact <text>', 'contact for incidents')
    .option(
      '--event-type <type>',
      'deliver events of this type, like order.*; creates a route; repeat for more',
      collectText,
    )
    .option('--config <json|@file>', "the transport's settings, as JSON")
    .option('--settings <json|@file>', 'any other settings, as JSON: retry, circuit, limits, autoDisable, …')
}

/** JSON first, then the flags over it: what is said most directly wins. The API checks the result. */
export async function readEndpointFlags(flags: EndpointFlags): Promise<EndpointChanges> {
  const settings = flags.settings === undefined ? {} : await readJsonObject(flags.settings, '--settings')
  const config = flags.config === undefined ? {} : await readJsonObject(flags.config, '--config')
  const { url, method, timeoutMs, header: headers, plainHeader: plainHeaders } = flags
  const { exchange, routingKey, username } = flags
  return {
    ...settings,
    ...given({ transport: flags.transport, preset: flags.preset, tenant: flags.tenant }),
    ...given({ contact: flags.contact, tags: flags.tag, onDead: flags.onDead, eventTypes: flags.eventType }),
    ...merged('config', settings, {
      ...config,
      ...given({ url, method, timeoutMs, headers, plainHeaders, exchange, routingKey, username }),
    }),
    ...merged('retry', settings, given({ maxRetries: flags.maxRetries })),
    ...merged('limits', settings, {
      ...given({ concurrency: flags.concurrency, ratePerSecond: flags.rate, maxPending: flags.maxPending }),
    }),
  }
}

export function given(values: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined))
}

function merged(
  field: 'config' | 'retry' | 'limits',
  settings: Record<string, unknown>,
  over: Record<string, unknown>,
): Record<string, unknown> {
  return Object.keys(over).length === 0
    ? {}
    : { [field]: { ...(settings[field] as object | undefined), ...over } }
}
