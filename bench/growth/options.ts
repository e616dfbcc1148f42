import { parseArgs } from 'node:util'
import type { Curve } from './curve.ts'

export interface GrowthOptions {
  readonly curves: readonly Curve[]
  readonly isQuick: boolean
  /** Undefined: the number that each curve defines. */
  readonly rounds: number | undefined
  readonly warmUpMs: number
  readonly windowMs: number
  readonly databaseUrl: string | undefined
  readonly writesResults: boolean
  /** Measure nothing: only draw charts and tables from the stored results. */
  readonly onlyRenders: boolean
}

export const HELP = `npm run growth -- [options]

  --curves a,b          only these curves: endpoints, nodes, backlog, payload, tabs
  --rounds N            measure every point N times (2; backlog and --quick: 1)
  --quick               fewer points and shorter windows: a smoke test in two minutes, not a result
  --database-url URL    a PostgreSQL server on this machine to use instead of the embedded one (needs createdb and checkpoint rights)
  --no-write            write no results
  --render              measure nothing; draw the charts and tables of the stored results again
`

const FULL = { warmUpMs: 2000, windowMs: 5000 }
const QUICK = { warmUpMs: 800, windowMs: 1500 }

/** Parses the command line; `undefined` if help was requested. */
export function parseGrowthOptions(argv: string[], allCurves: readonly Curve[]): GrowthOptions | undefined {
  const { values } = parseArgs({
    args: argv,
    options: {
      curves: { type: 'string' },
      rounds: { type: 'string' },
      quick: { type: 'boolean', default: false },
      'database-url': { type: 'string' },
      'no-write': { type: 'boolean', default: false },
      render: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) return undefined
  const rounds = values.rounds === undefined ? undefined : Number(values.rounds)
  if (rounds !== undefined && (!Number.isInteger(rounds) || rounds < 1)) {
    throw new Error('--rounds takes a whole number from 1.')
  }
  return {
    curves: chooseCurves(values.curves?.split(','), allCurves),
    isQuick: values.quick,
    rounds,
    databaseUrl: values['database-url'],
    writesResults: !values['no-write'],
    onlyRenders: values.render,
    ...(values.quick ? QUICK : FULL),
  }
}

function chooseCurves(names: readonly string[] | undefined, allCurves: readonly Curve[]): readonly Curve[] {
  if (names === undefined) return allCurves
  return names.map((name) => {
    const curve = allCurves.find((curve) => curve.name === name)
    if (curve === undefined) {
      throw new Error(`There is no curve "${name}". Curves: ${allCurves.map(({ name }) => name).join(', ')}.`)
    }
    return curve
  })
}
