// The program of the heartbeat's thread: it renews the lease even while a handler blocks the main thread's event loop.
import { parentPort, workerData } from 'node:worker_threads'
import { BlockedLoop } from './blocked-loop.ts'
import {
  type HeartbeatMessage,
  type HeartbeatSettings,
  processMonotonicMs,
  slot,
} from './heartbeat-protocol.ts'
import { openPulse } from './link/open-pulse.ts'
import type { WorkerPulse } from './link/worker-pulse.ts'
import { WorkBoard } from './work-board/work-board.ts'

const settings = workerData as HeartbeatSettings
const shared = new Float64Array(settings.shared)
const board = new WorkBoard(settings.board)
const state: { isStopping: boolean; wake: (() => void) | null } = { isStopping: false, wake: null }

function say(message: HeartbeatMessage): void {
  parentPort?.postMessage(message, [])
}

parentPort?.on('message', (order: 'stop' | 'now') => {
  state.isStopping ||= order === 'stop'
  state.wake?.()
})

async function beat(pulse: WorkerPulse): Promise<void> {
  const heard = await pulse.beat(shared[slot.running] ?? 0)
  if (heard.isKnown) shared[slot.lastGoodBeat] = heard.sentAtMs
  say({ kind: 'beat', ...heard })
  await pulse.watchPeers((incarnation, recovered) => say({ kind: 'buried', incarnation, recovered }))
}

async function run(): Promise<void> {
  const { incarnation, loop, loopLookMs, heartbeatMs } = settings
  const pulse = await openPulse(settings, board)
  const blockedLoop = new BlockedLoop({ pulse, incarnation, board, limits: loop, say })
  const loopTimer = setInterval(() => blockedLoop.look(processMonotonicMs()), loopLookMs)
  while (!state.isStopping) {
    try {
      await beat(pulse)
    } catch (error) {
      say({ kind: 'missed', error: error instanceof Error ? error.message : String(error) })
    }
    if (state.isStopping) break
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, heartbeatMs)
      state.wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }
  clearInterval(loopTimer)
  await blockedLoop.stop().catch((error: unknown) => say({ kind: 'missed', error: String(error) }))
  await pulse.close()
  say({ kind: 'stopped' })
  parentPort?.close()
}

void run()
