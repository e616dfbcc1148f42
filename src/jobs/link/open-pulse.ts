import type { HeartbeatSettings } from '../heartbeat-protocol.ts'
import type { WorkBoard } from '../work-board/work-board.ts'
import type { WorkerPulse } from './worker-pulse.ts'

/** Loads only the driver that this worker needs: for the broker or for the database. */
export async function openPulse(settings: HeartbeatSettings, board: WorkBoard): Promise<WorkerPulse> {
  const { address } = settings
  if (address.kind === 'postgres') {
    const { PostgresPulse } = await import('./postgres-pulse.ts')
    return new PostgresPulse(settings, address)
  }
  const { BrokerPulse } = await import('../broker/broker-pulse.ts')
  return new BrokerPulse({ ...settings, ...address }, board)
}
