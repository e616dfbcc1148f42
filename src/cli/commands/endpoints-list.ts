import type { Command } from 'commander'
import type { Endpoint } from '../../endpoints.ts'
import type { EndpointHealth } from '../../storage/endpoint-health.ts'
import { stateColour } from '../endpoint-state.ts'
import { withHoldfast } from '../find-database.ts'
import { wholeNumber } from '../option-parsers.ts'
import type { Output } from '../output.ts'
import { openSession } from '../session.ts'
import { type Column, printable } from '../table.ts'

interface ListedEndpoint {
  readonly endpoint: Endpoint
  readonly health: EndpointHealth
}

const maxListed = 1000

export function registerEndpointsList(endpoints: Command): void {
  endpoints
    .command('list')
    .description('list endpoints with their health, by name')
    .option('--limit <number>', `at most so many, up to ${maxListed}`, wholeNumber, 100)
    .option('--after <name>', 'only those after this name')
    .action(async (flags: { limit: number; after?: string }, command: Command) => {
      const session = await openSession(command)
      const limit = Math.max(1, Math.min(flags.limit, maxListed))
      const listed = await withHoldfast(session, async (holdfast) => {
        const found = await holdfast.endpoints.list({
          limit,
          ...(flags.after !== undefined && { afterName: flags.after }),
        })
        return Promise.all(
          found.map(async (endpoint) => ({
            endpoint,
            health: await holdfast.endpoints.health(endpoint.name),
          })),
        )
      })
      const { output, prefix } = session
      if (output.isJson) {
        output.line(JSON.stringify(listed.map(({ endpoint, health }) => ({ ...endpoint, health }))))
        return
      }
      if (listed.length === 0) {
        output.message(
          `There are no endpoints. Create one with: ${prefix} endpoints create <name> --url https://…`,
        )
        return
      }
      output.table(columns(output), listed)
      const last = listed.at(-1)?.endpoint.name
      if (listed.length === limit)
        output.message(`There may be more: ${prefix} endpoints list --after ${last}`)
    })
}

function columns(output: Output): Column<ListedEndpoint>[] {
  return [
    { title: 'NAME', value: ({ endpoint }) => endpoint.name },
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
    { title: 'TO', value: ({ endpoint }) => printable(targetOf(endpoint)) },
  ]
}

function targetOf({ transport, config }: Endpoint): string {
  const target = config['url'] ?? config['handler']
  return typeof target === 'string' ? (transport === 'http' ? target : `${transport} ${target}`) : transport
}
