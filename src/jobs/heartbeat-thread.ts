// The program of the thread that says "this worker lives", whatever the handlers do to the main thread's event loop.
import { parentPort, workerData } from 'node:worker_threads'
import { closePool, createPool } from '../postgres/pool.ts'
import { Database } from '../storage/database.ts'
import { beatWorker, buryWorker } from '../storage/workers.ts'
import {
  type HeartbeatMessage,
  type HeartbeatSettings,
  processMonotonicMs,
  slot,
} from './heartbeat-protocol.ts'
import { WorkerWatch } from './worker-watch.ts'

const settings = workerData as HeartbeatSettings
const shared = new Float64Array(settings.shared)
const deadlineMs = settings.heartbeatMs * 2
const pool = createPool({
  connectionString: settings.databaseUrl,
  max: 1,
  applicationName: 'holdfast-heartbeat',
  connectTimeoutMs: deadlineMs,
  deadlineMs,
})
const database = new Database({ pool, preparesStatements: false, deadlineMs })
const watch = new WorkerWatch(settings.heartbeatMs * 4)
const state: { isStopping: boolean; wake: (() => void) | null } = { isStopping: false, wake: null }

function say(message: HeartbeatMessage): void {
  parentPort?.postMessage(message, [])
}

parentPort?.on('message', (order: 'stop' | 'now') => {
  state.isStopping ||= order === 'stop'
  state.wake?.()
})

async function beat(): Promise<void> {
  const sentAtMs = processMonotonicMs()
  const { peers, ...heard } = await beatWorker(database, settings.incarnation, shared[slot.running] ?? 0)
  if (heard.isKnown) shared[slot.lastGoodBeat] = sentAtMs
  say({ kind: 'beat', ...heard })
  for (const peer of watch.observe(peers, processMonotonicMs())) {
    if (peer.incarnation === settings.incarnation) continue
    const recovered = await buryWorker(database, peer.incarnation, peer.beat, settings.incarnation)
    say({ kind: 'buried', incarnation: peer.incarnation, recovered })
  }
}

async function run(): Promise<void> {
  while (!state.isStopping) {
    try {
      await beat()
    } catch (error) {
      say({ kind: 'missed', error: error instanceof Error ? error.message : String(error) })
    }
    if (state.isStopping) break
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, settings.heartbeatMs)
      state.wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }
  await closePool(pool, 1000)
  say({ kind: 'stopped' })
  parentPort?.close()
}

void run()
