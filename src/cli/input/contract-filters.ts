import type { Command } from 'commander'
import type { z } from 'zod'
import type { Operation } from '../../contract/operation.ts'
import { pastInstant } from './option-parsers.ts'

/** Paging has its own options. */
const ownOptions: ReadonlySet<string> = new Set(['limit', 'cursor'])
/** `send` takes `--type`: what is learnt there works in lists, and the other way round. */
const aliases: Readonly<Record<string, string>> = { eventType: 'type' }
const times: ReadonlySet<string> = new Set(['from', 'to'])

/** Adds an option for each filter of the API call, so that the command line supports all of them. */
export function addFilters(
  command: Command,
  operation: Pick<Operation, 'query'>,
  without: readonly string[] = [],
): Command {
  for (const [name, schema] of Object.entries(operation.query.shape)) {
    if (ownOptions.has(name) || without.includes(name)) continue
    const alias = aliases[name]
    const isFree = alias !== undefined && operation.query.shape[alias] === undefined
    const flag = `${isFree ? `--${alias}, ` : ''}--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)} <${placeholder(name)}>`
    const about = describeFilter(name, schema as z.ZodType)
    if (times.has(name)) command.option(flag, about, (text) => pastInstant(text, Date.now()))
    else command.option(flag, about)
  }
  return command
}

function placeholder(name: string): string {
  return times.has(name) ? 'time' : name.replace(/^.*([A-Z])/, (_, letter: string) => letter.toLowerCase())
}

function describeFilter(name: string, schema: z.ZodType): string {
  const choices = choicesOf(schema)
  const description = schema.description ?? ''
  if (times.has(name)) return `${description} ISO 8601, or before now like -30s, -10m, -2h, -1d`.trim()
  if (choices !== null) return choices.join(', ')
  return (
    description || `only those with this ${name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)}`
  )
}

function choicesOf(schema: z.ZodType): readonly string[] | null {
  const { def } = schema as z.ZodType & { def: { innerType?: z.ZodType; entries?: Record<string, string> } }
  if (def.innerType !== undefined) return choicesOf(def.innerType)
  return def.entries === undefined ? null : Object.values(def.entries)
}
