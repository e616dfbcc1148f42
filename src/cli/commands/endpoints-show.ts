import type { Command } from 'commander'
import type { Endpoint } from '../../endpoints.ts'
import type { EndpointHealth } from '../../storage/endpoint-health.ts'
import { stateColour } from '../endpoint-state.ts'
import { withHoldfast } from '../find-database.ts'
import type { Output } from '../output.ts'
import { openSession, type Session } from '../session.ts'
import { formatTable, printable } from '../table.ts'

export function registerEndpointsShow(endpoints: Command): void {
  endpoints
    .command('show')
    .description('show one endpoint: its settings, its circuit, and what it is owed')
    .argument('<name>')
    .action(async (name: string, _options: unknown, command: Command) => {
      const session = await openSession(command)
      const [endpoint, health] = await withHoldfast(session, (holdfast) =>
        Promise.all([holdfast.endpoints.get(name), holdfast.endpoints.health(name)]),
      )
      session.output.data({ ...endpoint, health }, () => describe(session.output, endpoint, health))
      if (!session.output.isJson) advise(session, name, health)
    })
}

function describe(output: Output, endpoint: Endpoint, health: EndpointHealth): string {
  const { circuit } = health
  const since = circuit.openedAt === null ? '' : ` since ${circuit.openedAt.toISOString()}`
  const probe = circuit.probeAt === null ? '' : `, next probe at ${circuit.probeAt.toISOString()}`
  const rows: [string, string][] = [
    ['name', endpoint.name],
    ['state', output.paintData(stateColour(health.state), health.state)],
    ['reason', printable(health.reason ?? '')],
    ['circuit', `${output.paintData(stateColour(circuit.state), circuit.state)}${since}${probe}`],
    ['failures in a row', String(circuit.failures)],
    ['held until', health.heldUntil?.toISOString() ?? ''],
    ['pending', String(health.pending)],
    ['in flight', String(health.inFlight)],
    ['oldest due', health.pending > 0 ? `${(health.oldestDueMs / 1000).toFixed(1)} s ago` : ''],
    ['dead letters', String(health.deadLetters)],
    ['transport', endpoint.transport],
    ['preset', endpoint.preset],
    ['tags', endpoint.tags.map(printable).join(', ')],
    ...(['config', 'retry', 'circuit', 'limits', 'request', 'autoDisable'] as const).map(
      (field): [string, string] => [
        field === 'circuit' ? 'circuit policy' : field,
        JSON.stringify(endpoint[field]),
      ],
    ),
    ['onDead', String(endpoint['onDead'])],
    ['created', endpoint.createdAt.toISOString()],
    ['updated', endpoint.updatedAt.toISOString()],
  ]
  const shown = rows.filter(([, value]) => value !== '')
  const columns = [
    { title: '', value: ([name]: [string, string]) => output.paintData('dim', name) },
    { title: '', value: ([, value]: [string, string]) => value },
  ]
  return formatTable(columns, shown).trimStart()
}

function advise({ output, prefix }: Session, name: string, health: EndpointHealth): void {
  if (health.state === 'paused' || health.state === 'rejecting') {
    output.message(`Its deliveries wait. Go on with: ${prefix} endpoints resume ${name}`)
  } else if (health.state === 'disabled') {
    output.message(`Its deliveries wait. Go on with: ${prefix} endpoints enable ${name}`)
  } else if (health.circuit.state !== 'closed' || health.heldUntil !== null) {
    output.message(`Mended already? Try at once with: ${prefix} endpoints reset-circuit ${name}`)
  }
}
