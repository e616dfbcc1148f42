import type { Command } from 'commander'
import type { Endpoints } from '../../endpoints.ts'
import { withHoldfast } from '../find-database.ts'
import { openSession } from '../session.ts'

interface Switch {
  readonly verb: string
  readonly description: string
  readonly done: string
  readonly takesReason: boolean
  turn(endpoints: Endpoints, name: string, reason: string | undefined): Promise<void>
}

const switches: readonly Switch[] = [
  {
    verb: 'pause',
    description: 'stop its deliveries and keep them; giving up is put off for as long',
    done: 'paused',
    takesReason: true,
    turn: (endpoints, name, reason) => endpoints.pause(name, reason),
  },
  {
    verb: 'resume',
    description: 'go on after a pause, or after the endpoint was found to be rejecting',
    done: 'active',
    takesReason: false,
    turn: (endpoints, name) => endpoints.resume(name),
  },
  {
    verb: 'disable',
    description: 'take the endpoint out of service; its deliveries are kept',
    done: 'disabled',
    takesReason: true,
    turn: (endpoints, name, reason) => endpoints.disable(name, reason),
  },
  {
    verb: 'enable',
    description: 'bring a disabled endpoint back',
    done: 'active',
    takesReason: false,
    turn: (endpoints, name) => endpoints.enable(name),
  },
  {
    verb: 'reset-circuit',
    description: 'close its circuit and clear a hold, so that it is tried at once',
    done: 'closed',
    takesReason: false,
    turn: (endpoints, name) => endpoints.resetCircuit(name),
  },
]

export function registerEndpointsSwitches(endpoints: Command): void {
  for (const each of switches) {
    const command = endpoints.command(each.verb).description(each.description).argument('<name>')
    if (each.takesReason) command.option('--reason <text>', 'kept with the state and in the audit log')
    command.action(async (name: string, flags: { reason?: string }, run: Command) => {
      const session = await openSession(run)
      await withHoldfast(session, (holdfast) => each.turn(holdfast.endpoints, name, flags.reason))
      const state = each.verb === 'reset-circuit' ? { circuit: each.done } : { state: each.done }
      session.output.data(
        { name, ...state },
        () => `${name} ${each.verb === 'reset-circuit' ? 'circuit ' : ''}${each.done}`,
      )
    })
  }
}
