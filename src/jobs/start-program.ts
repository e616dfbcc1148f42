import { type ChildProcess, fork } from 'node:child_process'
import { createRequire } from 'node:module'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { Worker as Thread, type WorkerOptions } from 'node:worker_threads'

const isCompiled = import.meta.url.endsWith('.js')

/** The URL of one of our programs: `./heartbeat-thread` is heartbeat-thread.js, or .ts in a checkout. */
function addressOf(program: string): URL {
  return new URL(`${program}.${isCompiled ? 'js' : 'ts'}`, import.meta.url)
}

export function startThread(program: string, options: Omit<WorkerOptions, 'eval' | 'execArgv'>): Thread {
  if (isCompiled) return new Thread(addressOf(program), { ...options, execArgv: [] })
  // In a checkout, the thread compiles the sources as its parent does; `--import` doesn't apply to threads.
  const file = JSON.stringify(addressOf(program).href)
  const loader = JSON.stringify(
    pathToFileURL(
      createRequire(import.meta.url)
        .resolve('tsx/esm/api')
        .replace(/\.cjs$/, '.mjs'),
    ).href,
  )
  const text = `import(${loader}).then((tsx) => tsx.tsImport(${file}, ${file}))`
  return new Thread(text, { ...options, execArgv: [], eval: true })
}

/** Starts a process with our Node.js options, except those of the debugger. */
export function startProcess(program: string, execArgv: readonly string[]): ChildProcess {
  const own = process.execArgv.filter((option) => !option.startsWith('--inspect'))
  const source = isCompiled
    ? []
    : ['--import', pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href]
  return fork(fileURLToPath(addressOf(program)), {
    serialization: 'advanced',
    execArgv: [...own, ...source, ...execArgv],
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
}
