// The README's chart: npm --prefix bench run chart -- results/2026-11-18T0916.json results/2026-11-18T1038.json
// Takes each row from the last of the files that has it.
import { readFileSync, writeFileSync } from 'node:fs'
import { renderChart } from './chart.ts'
import type { RunResult } from './write-results.ts'

const shown = ['fresh-burst', 'job-enqueue', 'job-runs']
const image = new URL('../../docs/images/bench.svg', import.meta.url)

const files = process.argv.slice(2)
if (files.length === 0) throw new Error('Name the result files: results/….json, the oldest first.')
const results = files.map((file) => JSON.parse(readFileSync(file, 'utf8')) as RunResult).toReversed()
const rows = shown.map((name) => {
  const row = results.flatMap((result) => result.rows).find((each) => each.name === name)
  if (row === undefined) throw new Error(`None of the files has the row ${name}.`)
  return row
})
const [newest] = results
const { cores, node, postgres } = newest!.environment
writeFileSync(
  image,
  renderChart(
    rows,
    'Holdfast and others, side by side',
    `${newest!.startedAt.slice(0, 10)} · ${cores} cores · Node.js ${node} · PostgreSQL ${postgres}, fsync on · median of ${newest!.rounds} rounds, whiskers min–max`,
    { hasGoals: false },
  ),
)
