import type { Command } from 'commander'
import type { ResultOf } from '../../contract/operation.ts'
import type { Operations } from '../../contract/operations.ts'
import { settingNames } from '../../core/endpoints/setting-fields.ts'
import { withApi } from '../connection/with-api.ts'
import { type WatchFlag, watch, watchOption } from '../interact/watch.ts'
import { stateColour } from '../output/endpoint-state.ts'
import { type Field, fieldsOf, formatFields, textOf } from '../output/field-list.ts'
import type { Output } from '../output/output.ts'
import { formatDuration } from '../output/units.ts'
import type { Session } from '../process/session.ts'

type Endpoint = ResultOf<Operations['endpoints']['get']>
type Health = ResultOf<Operations['endpoints']['health']>

export function registerEndpointsShow(endpoints: Command): void {
  endpoints
    .command('show')
    .description('show one endpoint: its settings, its circuit, and its pending deliveries')
    .argument('<name>')
    .option(...watchOption)
    .action((name: string, flags: { watch?: WatchFlag }, command: Command) =>
      withApi(command, async (session) => {
        const { client, output } = session
        await watch(flags.watch, async () => {
          const params = { name }
          const [endpoint, health] = await Promise.all([
            client.endpoints.get({ params }),
            client.endpoints.health({ params }),
          ])
          output.data({ ...endpoint, health }, () => describe(output, endpoint, health))
          if (!output.isJson) advise(session, name, health)
        })
      }),
    )
}

function describe(output: Output, endpoint: Endpoint, health: Health): string {
  const { circuit } = health
  const since =
    circuit.openedAt === null
      ? ''
      : ` since ${circuit.openedAt.toISOString()} (${output.when(circuit.openedAt)})`
  const probe = circuit.probeAt === null ? '' : `, next probe ${output.when(circuit.probeAt)}`
  return formatFields(output, [
    ['name', endpoint.name],
    ['state', output.paintData(stateColour(health.state), health.state)],
    ['reason', textOf(health.reason)],
    ['circuit', `${output.paintData(stateColour(circuit.state), circuit.state)}${since}${probe}`],
    ['failures in a row', String(circuit.failures)],
    ['held until', textOf(health.heldUntil)],
    ['pending', String(health.pending)],
    ['in flight', String(health.inFlight)],
    ['oldest due', health.pending > 0 ? `${formatDuration(health.oldestDueMs)} ago` : ''],
    ['dead letters', String(health.deadLetters)],
    ['transport', endpoint.transport],
    ['preset', endpoint.preset],
    ['tags', textOf(endpoint.tags)],
    ['tenant', textOf(endpoint.tenant)],
    ['contact', textOf(endpoint.contact)],
    ['event types', textOf(endpoint.eventTypes)],
    ['config', textOf(endpoint.config)],
    ...settingNames.map(
      (name): Field => [name === 'circuit' ? 'circuit policy' : name, textOf(endpoint[name])],
    ),
    ...fieldsOf({ created: endpoint.createdAt, updated: endpoint.updatedAt }),
  ])
}

function advise({ output, prefix }: Session, name: string, health: Health): void {
  if (health.state === 'paused' || health.state === 'rejecting') {
    output.message(`Its deliveries wait. Resume it with: ${prefix} endpoints resume ${name}`)
  } else if (health.state === 'disabled') {
    output.message(`Its deliveries wait. Enable it with: ${prefix} endpoints enable ${name}`)
  } else if (health.circuit.state !== 'closed' || health.heldUntil !== null) {
    output.message(`Fixed the cause? Send now with: ${prefix} endpoints reset-circuit ${name}`)
  }
  if (health.deadLetters > 0) {
    output.message(`See its dead letters with: ${prefix} dead-letters groups --endpoint ${name}`)
  }
}
