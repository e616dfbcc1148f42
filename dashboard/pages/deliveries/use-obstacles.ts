import { useMemo } from 'react'
import { useApi } from '../../api/use-api.ts'
import { type Obstacles, obstaclesOf } from './obstacles.ts'

/** By the answer that the frame shows too; at most 200 endpoints, those in trouble first. */
export function useObstacles(): Obstacles {
  const { data } = useApi('overview.get', {}, { topics: ['letters', 'changes'], pollMs: 10_000 })
  const endpoints = data?.endpoints
  return useMemo(() => obstaclesOf(endpoints ?? []), [endpoints])
}
