import type { Command } from 'commander'
import { HoldfastError } from '../../core/errors.ts'
import type { EndpointInput } from '../../transports/endpoint-types.ts'
import { withApi } from '../connection/with-api.ts'
import { addEndpointOptions, type EndpointFlags, readEndpointFlags } from './endpoint-flags.ts'

export function registerEndpointsCreate(endpoints: Command): void {
  const create = endpoints
    .command('create')
    .description('create an endpoint')
    .argument('<name>', 'a–z, 0–9, ".", "_" and "-"')
  addEndpointOptions(create).action((name: string, flags: EndpointFlags, command: Command) =>
    withApi(command, async ({ client, output, prefix }) => {
      const body = { ...(await readEndpointFlags(flags)), name } as EndpointInput
      refuseMissingUrl(body)
      const created = await client.endpoints.create({ body })
      output.data(created, () => created.name)
      if (output.isJson) return
      if (created.signingSecret !== undefined) {
        output.message(`Its signing secret, shown only once: ${created.signingSecret}`)
      }
      output.message(`Created. Send to it with: ${prefix} send ${name} '{"hello":"world"}'`)
    }),
  )

  const update = endpoints
    .command('update')
    .description('change settings of an endpoint; what is left out stays')
    .argument('<name>')
  addEndpointOptions(update)
    .option('--reason <text>', 'kept in the audit log')
    .action((name: string, { reason, ...flags }: EndpointFlags & { reason?: string }, command: Command) =>
      withApi(command, async ({ client, output }) => {
        const body = { ...(await readEndpointFlags(flags)), ...(reason !== undefined && { reason }) }
        const updated = await client.endpoints.update({ params: { name }, body })
        output.data(updated, () => updated.name)
      }),
    )
}

/** The API would name the field of the config, which is a flag here. */
function refuseMissingUrl({ transport = 'http', config }: EndpointInput): void {
  if (transport !== 'http' || (config as { readonly url?: unknown } | undefined)?.url !== undefined) return
  throw new HoldfastError('invalid_endpoint', 'The endpoint needs a URL: add --url https://…')
}
