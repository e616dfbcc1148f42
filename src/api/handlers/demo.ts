import type { demoOperations } from '../../contract/demo.ts'
import { HoldfastError } from '../../core/errors.ts'
import { writeAudit } from '../../storage/audit-log.ts'
import type { HandlersFor } from '../call.ts'
import type { DemoSwitch } from '../demo-switch.ts'

export function demoHandlers(demo: DemoSwitch | null): HandlersFor<typeof demoOperations> {
  const state = () => ({ isOffered: demo !== null, isRunning: demo?.isRunning ?? false })
  return {
    get: async () => state(),
    start: async ({ holdfast, caller }) => {
      const offered = assertOffered(demo)
      await writeAudit(holdfast.database, { actor: caller.actor, action: 'demo.started', subject: 'demo' })
      await offered.start()
      return state()
    },
    stop: async ({ holdfast, caller }) => {
      const offered = assertOffered(demo)
      await writeAudit(holdfast.database, { actor: caller.actor, action: 'demo.stopped', subject: 'demo' })
      await offered.stop()
      return state()
    },
  }
}

function assertOffered(demo: DemoSwitch | null): DemoSwitch {
  if (demo !== null) return demo
  throw new HoldfastError(
    'demo_not_offered',
    'This node does not offer the demo. Start one that does with: holdfast dev',
  )
}
