import type { Command } from 'commander'
import type { ResultOf } from '../../contract/operation.ts'
import { type Operations, operations } from '../../contract/operations.ts'
import { stateColour } from '../endpoint-state.ts'
import { inParallel } from '../in-parallel.ts'
import { addList } from '../noun.ts'
import type { Output } from '../output.ts'
import { type Column, printable } from '../table.ts'

type Endpoint = ResultOf<Operations['endpoints']['get']>
type ListedEndpoint = Endpoint & { readonly health: ResultOf<Operations['endpoints']['health']> }

const callsAtOnce = 8

export function registerEndpointsList(endpoints: Command): void {
  addList<Operations['endpoints']['list'], ListedEndpoint>(endpoints, {
    description: 'list endpoints with their health, by name',
    operation: operations.endpoints.list,
    columns,
    nothing: (prefix) =>
      `There are no such endpoints. Create one with: ${prefix} endpoints create <name> --url https://…`,
    enrich: ({ client }, items) =>
      inParallel(items, callsAtOnce, async (endpoint) => ({
        ...endpoint,
        health: await client.endpoints.health({ params: { name: endpoint.name } }),
      })),
  })
}

function columns(output: Output): Column<ListedEndpoint>[] {
  return [
    { title: 'NAME', canShrink: true, value: ({ name }) => name },
    {
      title: 'STATE',
      value: ({ health }) => output.paintData(stateColour(health.state), health.state),
    },
    {
      title: 'CIRCUIT',
      value: ({ health }) => output.paintData(stateColour(health.circuit.state), health.circuit.state),
    },
    { title: 'PENDING', isNumber: true, value: ({ health }) => String(health.pending) },
    { title: 'IN FLIGHT', isNumber: true, value: ({ health }) => String(health.inFlight) },
    { title: 'DEAD', isNumber: true, value: ({ health }) => String(health.deadLetters) },
    { title: 'TO', canShrink: true, value: (endpoint) => printable(targetOf(endpoint)) },
  ]
}

function targetOf({ transport, config }: Endpoint): string {
  if (transport === 'http') return typeof config.url === 'string' ? config.url : transport
  const target = transport === 'function' ? config.handler : config.to.join(', ')
  return target === undefined ? transport : `${transport} ${target}`
}
