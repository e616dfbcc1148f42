import { formatId } from '../core/delivery/ids.ts'
import { HoldfastError } from '../core/errors.ts'
import type { Database } from '../storage/database.ts'
import type { DeadLetterRow } from '../storage/dead-letters.ts'
import { readEndpoint } from '../storage/endpoints.ts'
import { readEventBodies } from '../storage/event-samples.ts'
import type { EventBody } from '../storage/events.ts'
import type { CompiledTransform, TransformError } from '../transforms/transform.ts'
import { isBatching, renderProblem, storedInput } from './render-stored.ts'
import type { Routes } from './routes.ts'

/** Whether dead letters could be rendered now. */
export interface LetterTrial {
  readonly tried: number
  readonly rendered: number
  readonly failures: readonly {
    readonly id: string
    readonly messageId: string
    readonly code: string
    readonly message: string
  }[]
}

const budgetMs = 2000

/** Renders each letter with the current version of its route. Letters without a route, and those of jobs, need no rendering. */
export async function tryLetters(
  database: Database,
  letters: readonly DeadLetterRow[],
  routes: Routes,
): Promise<LetterTrial> {
  const bodies = await readEventBodies(
    database,
    letters.map(({ messageId }) => messageId),
  )
  const bodyOf = new Map(bodies.map((body) => [body.id, body]))
  const transforms = new Map<string, CompiledTransform | TransformError>()
  const deadlineMs = performance.now() + budgetMs
  const failures: { id: string; messageId: string; code: string; message: string }[] = []
  let tried = 0
  try {
    for (const letter of letters) {
      if (performance.now() > deadlineMs) break
      tried += 1
      const problem = await problemOf(database, letter, bodyOf.get(letter.messageId), routes, transforms)
      if (problem === null) continue
      const { code, message } = problem
      failures.push({
        id: formatId('dlt', letter.id),
        messageId: formatId('msg', letter.messageId),
        code,
        message,
      })
    }
  } finally {
    for (const transform of transforms.values()) if ('close' in transform) await transform.close()
  }
  return { tried, rendered: tried - failures.length, failures }
}

async function problemOf(
  database: Database,
  letter: DeadLetterRow,
  body: EventBody | undefined,
  routes: Routes,
  transforms: Map<string, CompiledTransform | TransformError>,
): Promise<TransformError | null> {
  const { route, endpoint: name } = letter
  if (body === undefined) return { code: 'message_missing', message: 'Its message is no longer stored.' }
  if (route === null || name === null) return null
  let transform = transforms.get(route)
  if (transform === undefined) {
    transform = await routes.compiled(route).catch(asProblem)
    transforms.set(route, transform)
  }
  if (!('render' in transform)) return transform
  const endpoint = await readEndpoint(database, name)
  if (endpoint === undefined)
    return { code: 'endpoint_missing', message: `The endpoint "${name}" has been deleted.` }
  return renderProblem(transform, storedInput(body, name, letter.deliveryId), isBatching(endpoint))
}

function asProblem(error: unknown): TransformError {
  if (error instanceof HoldfastError) return { code: error.code, message: error.message }
  throw error
}
