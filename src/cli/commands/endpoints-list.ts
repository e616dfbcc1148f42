import type { Command } from 'commander'
import type { ResultOf } from '../../contract/operation.ts'
import { type Operations, operations } from '../../contract/operations.ts'
import { descriptionOf } from '../../transports/descriptions.ts'
import { stateColour } from '../output/endpoint-state.ts'
import { addList } from '../output/noun.ts'
import type { Output } from '../output/output.ts'
import { type Column, printable } from '../output/table.ts'
import { inParallel } from '../process/in-parallel.ts'

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
  return descriptionOf(transport)?.targetOf(config) ?? transport
}
