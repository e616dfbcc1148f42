import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { armsOf, type Row } from './row.ts'

export interface Options {
  rows: readonly Row[]
  arms: readonly string[] | undefined
  rounds: number
  isQuick: boolean
  databaseUrl: string | undefined
  /** The Node.js for samples; undefined: this one. */
  nodePath: string | undefined
  redisUrl: string
  printsJson: boolean
  writesResults: boolean
  messages: number
  httpMessages: number
  latencyProbes: number
  backlogMessages: number
  endpointCount: number
  idleMs: number
  sampleTimeoutMs: number
  /** Setting overrides, by arm. */
  overrides: Record<string, Record<string, number>>
}

export const HELP = `npm run bench -- [options]

  --rows a,b            only these rows
  --arms a,b            only these contenders
  --rounds N            interleaved rounds (5; with --quick 1)
  --quick               fewer messages: a smoke test, not a result
  --database-url URL    a PostgreSQL server to use instead of the embedded one (needs createdb and checkpoint rights)
  --node-24             run every sample on Node.js 24 (linux-x64), graphile-worker and pg-boss as their releases for that
  --redis-url URL       redis://127.0.0.1:6379
  --set arm.name=value  try another setting of a contender; repeatable
  --json                print the result as JSON instead of the table
  --no-write            write nothing into results/
`

const FULL = {
  messages: 100_000,
  httpMessages: 60_000,
  latencyProbes: 300,
  backlogMessages: 1_000_000,
  endpointCount: 10_000,
  idleMs: 20_000,
  rounds: 5,
}
const QUICK = {
  messages: 20_000,
  httpMessages: 20_000,
  latencyProbes: 100,
  backlogMessages: 100_000,
  endpointCount: 1000,
  idleMs: 5000,
  rounds: 1,
}
const SAMPLE_TIMEOUT_MS = 180_000

/** Parses the command line; `undefined` if help was requested. Throws with advice for unknown options. */
export function parseOptions(argv: string[], allRows: readonly Row[]): Options | undefined {
  const { values } = parseArgs({
    args: argv,
    options: {
      rows: { type: 'string' },
      arms: { type: 'string' },
      rounds: { type: 'string' },
      quick: { type: 'boolean', default: false },
      'database-url': { type: 'string' },
      'node-24': { type: 'boolean', default: false },
      'redis-url': { type: 'string', default: 'redis://127.0.0.1:6379' },
      set: { type: 'string', multiple: true, default: [] },
      json: { type: 'boolean', default: false },
      'no-write': { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) return undefined
  const size = values.quick ? QUICK : FULL
  const { rounds: defaultRounds, ...sizes } = size
  const rounds = values.rounds === undefined ? defaultRounds : Number(values.rounds)
  if (!Number.isInteger(rounds) || rounds < 1) throw new Error('--rounds takes a whole number from 1.')
  const rows = chooseRows(values.rows?.split(','), allRows)
  return {
    rows,
    arms: chooseArms(values.arms?.split(','), rows),
    rounds,
    isQuick: values.quick,
    databaseUrl: values['database-url'],
    nodePath: values['node-24'] ? findNode24() : undefined,
    redisUrl: values['redis-url'],
    printsJson: values.json,
    writesResults: !values['no-write'],
    ...sizes,
    sampleTimeoutMs: SAMPLE_TIMEOUT_MS,
    overrides: parseOverrides(values.set),
  }
}

function findNode24(): string {
  const path = fileURLToPath(new URL('../node_modules/node-24/bin/node', import.meta.url))
  if (!existsSync(path))
    throw new Error('There is no Node.js 24 here: `npm --prefix bench ci` on linux-x64 brings it.')
  return path
}

function chooseRows(names: readonly string[] | undefined, allRows: readonly Row[]): readonly Row[] {
  if (names === undefined) return allRows
  return names.map((name) => {
    const row = allRows.find((row) => row.name === name)
    if (row === undefined) {
      throw new Error(`There is no row "${name}". Rows: ${allRows.map((row) => row.name).join(', ')}.`)
    }
    return row
  })
}

function chooseArms(names: string[] | undefined, rows: readonly Row[]): readonly string[] | undefined {
  const known = new Set(rows.flatMap((row) => armsOf(row)))
  const unknown = names?.find((name) => !known.has(name))
  if (unknown !== undefined) {
    throw new Error(`No chosen row has an arm "${unknown}". Arms: ${[...known].join(', ')}.`)
  }
  return names
}

function parseOverrides(assignments: readonly string[]): Options['overrides'] {
  const overrides: Options['overrides'] = {}
  for (const assignment of assignments) {
    const match = /^([\w-]+)\.(\w+)=(-?[\d.]+)$/.exec(assignment)
    const [, arm, name, value] = match ?? []
    if (arm === undefined || name === undefined || value === undefined) {
      throw new Error(`--set takes arm.name=number, not "${assignment}".`)
    }
    overrides[arm] = { ...overrides[arm], [name]: Number(value) }
  }
  return overrides
}
