import type { Row } from '../harness/row.ts'
import { measureApiPublish, ONE_INSERT_PER_REQUEST } from '../workload/measure-api.ts'

export const apiPublish: Row = {
  name: 'api-publish',
  title: 'POST /v1/events over 64 connections, against one insert per request',
  unit: 'events/s',
  goal: { of: 'ratio', atLeast: 8 },
  baselines: [ONE_INSERT_PER_REQUEST],
  maxRounds: 3,
  measure: measureApiPublish,
}
