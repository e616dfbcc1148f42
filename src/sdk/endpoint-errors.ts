import { HoldfastError } from '../core/errors.ts'
import { listProblems } from '../core/problem.ts'

export interface EndpointProblem {
  readonly path: string
  readonly message: string
}

export function invalidEndpoint(problems: readonly EndpointProblem[]): HoldfastError {
  const listed = listProblems(problems)
  const isName = problems.length === 1 && problems[0]?.path === 'name'
  return new HoldfastError(
    isName ? 'invalid_name' : 'invalid_endpoint',
    `The endpoint is invalid. ${listed}`,
    {
      problems,
    },
  )
}

export function endpointNotFound(name: string): HoldfastError {
  return new HoldfastError(
    'endpoint_not_found',
    `There is no endpoint named "${name}". List them with: holdfast endpoints list`,
    { endpoint: name },
  )
}

export function routeNameTaken(error: unknown): HoldfastError {
  return new HoldfastError(
    'route_exists',
    'A route already has the name that is needed for one of the eventTypes. Rename or delete that route, or leave out the event type. Nothing was changed.',
    { detail: (error as { detail?: string }).detail ?? null },
    error,
  )
}
