import type { Command } from 'commander'
import type { EndpointFlag } from '../../core/endpoints/endpoint-flag.ts'
import { presetNames } from '../../core/endpoints/presets.ts'
import { settingFields, settingNames } from '../../core/endpoints/setting-fields.ts'
import { transportDescriptions } from '../../transports/descriptions.ts'
import type { EndpointChanges } from '../../transports/endpoint-types.ts'
import { collectHeader, collectText, decimalNumber, wholeNumber } from '../input/option-parsers.ts'
import { readJsonObject } from '../input/read-json-argument.ts'

export type EndpointFlags = Readonly<Record<string, unknown>> & {
  readonly config?: string
  readonly settings?: string
}

/** A flag, and the path of the field that it sets: `['limits', 'maxPending']`. */
interface PlacedFlag extends EndpointFlag {
  readonly place: readonly [string] | readonly [string, string]
}

const transportNames = transportDescriptions.map(({ name }) => name)

const flags: readonly PlacedFlag[] = [
  ...atTop({
    flag: '--transport <name>',
    sets: 'transport',
    about: `${transportNames.join(', ')} (default: http)`,
  }),
  ...transportFlags(),
  ...inPart('config', {
    flag: '--timeout-ms <number>',
    sets: 'timeoutMs',
    about: 'how long one attempt may take',
    reads: 'wholeNumber',
  }),
  ...atTop({ flag: '--preset <name>', sets: 'preset', about: presetNames.join(', ') }),
  ...settingFlags(),
  ...atTop(
    { flag: '--tag <tag>', sets: 'tags', about: 'repeat for more', reads: 'texts' },
    { flag: '--tenant <tenant>', sets: 'tenant', about: 'only events of this tenant' },
    { flag: '--contact <text>', sets: 'contact', about: 'contact for incidents' },
    {
      flag: '--event-type <type>',
      sets: 'eventTypes',
      about: 'deliver events of this type, like order.*; creates a route; repeat for more',
      reads: 'texts',
    },
  ),
]

/** Adds the settings of an endpoint as options of `create` and `update`. */
export function addEndpointOptions(command: Command): Command {
  for (const { flag, about, reads } of flags) {
    if (reads === undefined) command.option(flag, about)
    else command.option(flag, about, parsers[reads])
  }
  return command
    .option('--config <json|@file>', "the transport's settings, as JSON")
    .option('--settings <json|@file>', `any other settings, as JSON: ${settingNames.join(', ')}`)
}

/** Flags override fields of the JSON. The API validates the result. */
export async function readEndpointFlags(given: EndpointFlags): Promise<EndpointChanges> {
  const settings = given.settings === undefined ? {} : await readJsonObject(given.settings, '--settings')
  const config = given.config === undefined ? {} : await readJsonObject(given.config, '--config')
  const said: Record<string, unknown> = { ...settings }
  if (Object.keys(config).length > 0) said['config'] = { ...partOf(said['config']), ...config }
  for (const { flag, place } of flags) {
    const value = given[nameOf(flag)]
    if (value === undefined) continue
    const [field, inner] = place
    said[field] = inner === undefined ? value : { ...partOf(said[field]), [inner]: value }
  }
  return said
}

export function given(values: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined))
}

type Parser = (text: string, earlier: unknown) => unknown

const parsers: Readonly<Record<NonNullable<EndpointFlag['reads']>, Parser>> = {
  wholeNumber,
  decimalNumber,
  texts: collectText as Parser,
  headers: collectHeader as Parser,
}

function atTop(...these: readonly EndpointFlag[]): PlacedFlag[] {
  return these.map((flag) => ({ ...flag, place: [flag.sets] }))
}

function inPart(part: string, ...these: readonly EndpointFlag[]): PlacedFlag[] {
  return these.map((flag) => ({ ...flag, place: [part, flag.sets] }))
}

/** A flag of several transports describes its meaning for each. */
function transportFlags(): PlacedFlag[] {
  const byFlag = new Map<string, EndpointFlag>()
  for (const each of transportDescriptions.flatMap((described) => described.flags)) {
    const known = byFlag.get(each.flag)
    byFlag.set(
      each.flag,
      known === undefined ? each : { ...known, about: `${known.about}, or ${each.about}` },
    )
  }
  return inPart('config', ...byFlag.values())
}

function settingFlags(): PlacedFlag[] {
  return Object.entries(settingFields).flatMap(([field, { flags: described = [] }]) =>
    described.flatMap(({ sets, ...rest }) =>
      sets === undefined ? atTop({ ...rest, sets: field }) : inPart(field, { ...rest, sets }),
    ),
  )
}

/** Commander's name of the option: `maxPending` for `--max-pending <number>`. */
function nameOf(flag: string): string {
  const [long = ''] = flag.split(' ')
  return long.slice(2).replaceAll(/-([a-z])/g, (_, letter: string) => letter.toUpperCase())
}

function partOf(value: unknown): object {
  return typeof value === 'object' && value !== null ? value : {}
}
