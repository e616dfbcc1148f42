import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { HoldfastError } from '../../core/errors.ts'
import type { AnyJob } from '../../jobs/job.ts'
import type { JobMiddleware } from '../../jobs/middleware.ts'

export interface LoadedJobs {
  readonly jobs: readonly AnyJob[]
  readonly middleware: readonly JobMiddleware[]
}

/** Loads the jobs with a handler that these modules export, individually or in a list, and the functions of their `middleware` exports. */
export async function loadJobs(files: readonly string[], folder: string): Promise<LoadedJobs> {
  const jobs = new Map<string, AnyJob>()
  const middleware: JobMiddleware[] = []
  for (const file of files) {
    const module = await importModule(file, folder)
    middleware.push(...middlewareIn(module))
    const found = jobsIn(module)
    if (found.length === 0) {
      throw new HoldfastError(
        'configuration_invalid',
        `${file} exports no job with a handler. Export what defineJob({ name, run }) returns.`,
        { file },
      )
    }
    for (const job of found) jobs.set(job.name, job)
  }
  return { jobs: [...jobs.values()], middleware }
}

async function importModule(file: string, folder: string): Promise<unknown> {
  const path = resolve(folder, file)
  try {
    return await import(pathToFileURL(path).href)
  } catch (error) {
    // The error of Node.js would also name the importing file, which is ours.
    if (statSync(path, { throwIfNoEntry: false })?.isFile() !== true) {
      const message = `There is no file ${path}. Check the path after --import.`
      throw new HoldfastError('configuration_invalid', message, { file }, error)
    }
    throw new HoldfastError('configuration_invalid', whyNotImported(file, error), { file }, error)
  }
}

const typeScriptFile = /\.[cm]?tsx?\b/

/** Node.js runs TypeScript from 22.18 on; the errors of earlier versions don't help. */
function whyNotImported(file: string, error: unknown): string {
  const message = error instanceof Error ? error.message : String(error)
  const { code } = error as NodeJS.ErrnoException
  if (code === 'ERR_UNKNOWN_FILE_EXTENSION' && typeScriptFile.test(message)) {
    return (
      `${file} is TypeScript (or imports it), which Node.js ${process.versions.node} can't run: name the compiled .js file, use Node.js 22.18 or newer, ` +
      "or install tsx and set NODE_OPTIONS='--import tsx'."
    )
  }
  if (message.startsWith('Cannot use import statement outside a module')) {
    return (
      `${file} (or a file that it imports) is an ES module, but its package.json says "type": "commonjs", or no type: ` +
      'set "type": "module" there, or rename the file to .mjs or .mts.'
    )
  }
  return `${file} could not be imported: ${message}`
}

function middlewareIn(module: unknown): JobMiddleware[] {
  const exported = (module as { readonly middleware?: unknown } | null)?.middleware
  const layers: readonly unknown[] = Array.isArray(exported) ? exported : [exported]
  return layers.filter((layer): layer is JobMiddleware => typeof layer === 'function')
}

function jobsIn(module: unknown): AnyJob[] {
  if (typeof module !== 'object' || module === null) return []
  return Object.values(module)
    .flatMap((value: unknown) => (Array.isArray(value) ? (value as unknown[]) : [value]))
    .filter(isJob)
}

/** Checks the shape, because the module may use another copy of this package. */
function isJob(value: unknown): value is AnyJob {
  if (typeof value !== 'object' || value === null) return false
  const { name, settings, hasHandler, run } = value as Partial<AnyJob>
  return (
    typeof name === 'string' &&
    typeof settings === 'object' &&
    hasHandler === true &&
    typeof run === 'function'
  )
}
