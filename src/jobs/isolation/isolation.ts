import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Problem } from '../../core/problem.ts'
import type { RunContext } from '../run-context.ts'

export const isolationKinds = ['thread', 'process'] as const

export type IsolationKind = (typeof isolationKinds)[number]

/** Where a job's handler is executed when not in the worker itself. */
export interface Isolation {
  readonly kind: IsolationKind
  /** The address of the module that exports the handler. */
  readonly module: string
  /** Limit of the JavaScript heap for one run. */
  readonly memoryLimitMb: number
}

/** The options of `defineJob` about isolation. */
export interface IsolationInput {
  readonly isolation?: unknown
  readonly module?: unknown
  readonly memoryLimitMb?: unknown
}

const defaultMemoryLimitMb = 512
const minMemoryLimitMb = 16
const maxMemoryLimitMb = 1_048_576

export const moduleAdvice =
  "name the module that exports the handler, module: new URL('./handler.js', import.meta.url), and leave out run: a function can't be sent to a thread or process"

/** Null: the handler is executed in the worker. */
export function parseIsolation(
  { isolation: given, module, memoryLimitMb = defaultMemoryLimitMb }: IsolationInput,
  hasHandler: boolean,
): { readonly isolation: Isolation | null; readonly problems: readonly Problem[] } {
  const isolation = given === 'none' ? undefined : given
  const problems: Problem[] = []
  const kind = isolationKinds.find((each) => each === isolation)
  if (isolation !== undefined && kind === undefined)
    problems.push({ path: 'isolation', message: 'must be "none", "thread" or "process"' })
  if (isolation === undefined && module !== undefined)
    problems.push({ path: 'module', message: 'requires isolation: "thread" or "process"' })
  if (isolation !== undefined && hasHandler) problems.push({ path: 'run', message: moduleAdvice })
  const isModule = typeof module === 'string' || module instanceof URL
  if (isolation !== undefined && !isModule) problems.push({ path: 'module', message: moduleAdvice })
  const isLimit =
    Number.isInteger(memoryLimitMb) &&
    Number(memoryLimitMb) >= minMemoryLimitMb &&
    Number(memoryLimitMb) <= maxMemoryLimitMb
  if (!isLimit) {
    const message = `must be a whole number from ${minMemoryLimitMb} to ${maxMemoryLimitMb}`
    problems.push({ path: 'memoryLimitMb', message })
  }
  if (problems.length > 0 || kind === undefined || !isModule) return { isolation: null, problems }
  return {
    isolation: { kind, module: addressOf(module), memoryLimitMb: Number(memoryLimitMb) },
    problems,
  }
}

/** A path is relative to the working directory, as in the CLI. */
function addressOf(module: string | URL): string {
  if (module instanceof URL) return module.href
  return module.startsWith('file:') ? module : pathToFileURL(resolve(module)).href
}

export type ImportedHandler = (input: unknown, context: RunContext) => unknown

/** The handler that a module exports, as `default` or as `run`. */
export async function importHandler(module: string): Promise<ImportedHandler> {
  const exported = (await import(module)) as { readonly default?: unknown; readonly run?: unknown }
  const handler = exported.default ?? exported.run
  if (typeof handler !== 'function') {
    throw new TypeError(`${module} exports no handler: export a function, as default or with the name "run".`)
  }
  return handler as ImportedHandler
}
