import { bareTable } from './bare-table.ts'
import { bullmq } from './bullmq.ts'
import type { Contender } from './contender.ts'
import { graphileWorker } from './graphile-worker.ts'
import { holdfast } from './holdfast.ts'
import { holdfastJobs } from './holdfast-jobs.ts'
import { pgBoss } from './pg-boss.ts'

const contenders: readonly Contender[] = [holdfast, holdfastJobs, graphileWorker, pgBoss, bullmq, bareTable]

export function contenderNamed(name: string): Contender {
  const contender = contenders.find((contender) => contender.name === name)
  if (contender === undefined) throw new Error(`There is no contender "${name}".`)
  return contender
}
