import type { Command } from 'commander'
import type { HoldfastClient } from '../../client/holdfast-client.ts'
import { HoldfastError } from '../../core/errors.ts'
import { type ApiSession, withApi } from '../connection/with-api.ts'
import { confirm, yesOption } from '../interact/confirm.ts'
import { countOf } from '../output/count-of.ts'
import { inParallel } from '../process/in-parallel.ts'

interface Switch {
  readonly verb: 'pause' | 'resume' | 'disable' | 'enable' | 'reset-circuit'
  readonly call: 'pause' | 'resume' | 'disable' | 'enable' | 'resetCircuit'
  readonly description: string
  readonly done: string
  /** Whether it stops deliveries: then a call for many endpoints asks for confirmation. */
  readonly stops: boolean
}

interface SwitchFlags {
  readonly reason?: string
  readonly all?: boolean
  readonly tag?: string
  readonly yes?: boolean
}

const switches: readonly Switch[] = [
  {
    verb: 'pause',
    call: 'pause',
    description: 'stop sending and keep the deliveries; the give-up timer is paused',
    done: 'paused',
    stops: true,
  },
  {
    verb: 'resume',
    call: 'resume',
    description: 'end a pause, or the state rejecting',
    done: 'active',
    stops: false,
  },
  {
    verb: 'disable',
    call: 'disable',
    description: 'take the endpoint out of service; its deliveries are kept',
    done: 'disabled',
    stops: true,
  },
  {
    verb: 'enable',
    call: 'enable',
    description: 'enable a disabled endpoint',
    done: 'active',
    stops: false,
  },
  {
    verb: 'reset-circuit',
    call: 'resetCircuit',
    description: 'close its circuit and end a hold, so that Holdfast sends at once',
    done: 'closed',
    stops: false,
  },
]

const callsAtOnce = 8

export function registerEndpointsSwitches(endpoints: Command): void {
  for (const each of switches) {
    endpoints
      .command(each.verb)
      .description(each.description)
      .argument('[name]')
      .option('--all', 'every endpoint instead of one')
      .option('--tag <tag>', 'every endpoint with this tag')
      .option('--reason <text>', 'kept in the audit log, and with a pause or a disabling')
      // Only commands that stop deliveries ask; the others accept `--yes` too, for scripts.
      .option(...yesOption)
      .action((name: string | undefined, flags: SwitchFlags, run: Command) =>
        withApi(run, (session) => turn(session, each, name, flags)),
      )
  }
}

async function turn(
  session: ApiSession,
  each: Switch,
  name: string | undefined,
  flags: SwitchFlags,
): Promise<void> {
  const { client, output } = session
  if ([name, flags.all, flags.tag].filter((given) => given !== undefined).length !== 1) {
    throw new HoldfastError('invalid_options', 'Name one endpoint, or give --all, or --tag <tag>.')
  }
  const state = each.verb === 'reset-circuit' ? { circuit: each.done } : { state: each.done }
  const text = (of: string) => `${of} ${each.verb === 'reset-circuit' ? 'circuit ' : ''}${each.done}`
  if (name !== undefined) {
    await turnOne(client, each, name, flags.reason)
    output.data({ name, ...state }, () => text(name))
    return
  }
  const names = await turnMany(session, each, flags)
  output.data({ endpoints: names, ...state }, () => names.map(text).join('\n'))
  output.message(`${countOf(names.length, 'endpoints')}.`)
}

async function turnOne(
  client: HoldfastClient,
  { call }: Switch,
  name: string,
  reason: string | undefined,
): Promise<void> {
  const body = reason === undefined ? {} : { reason }
  await client.endpoints[call]({ params: { name }, body })
}

async function turnMany(session: ApiSession, each: Switch, flags: SwitchFlags): Promise<string[]> {
  const { client } = session
  const { tag } = flags
  if (each.verb === 'reset-circuit') {
    return (await client.endpoints.resetAllCircuits({ body: tag === undefined ? {} : { tag } })).endpoints
  }
  const names: string[] = []
  const query = { limit: 1000, ...(tag !== undefined && { tag }) }
  for await (const { name } of client.paginate(client.endpoints.list, { query })) names.push(name)
  if (each.stops && names.length > 0) {
    await confirm(session, `This would ${each.verb} ${countOf(names.length, 'endpoints')}.`, flags.yes)
  }
  await inParallel(names, callsAtOnce, (name) => turnOne(client, each, name, flags.reason))
  return names
}
