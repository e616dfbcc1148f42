import type { Command } from 'commander'
import { withApi } from '../connection/with-api.ts'
import { collectHeader } from '../input/option-parsers.ts'
import { readPayload } from '../input/read-json-argument.ts'
import { exitCode } from '../output/exit-code.ts'
import { printable } from '../output/table.ts'
import { given } from './endpoint-flags.ts'

interface RequestFlags {
  readonly path?: string
  readonly method?: string
  readonly header?: Readonly<Record<string, string>>
  readonly payload?: string
}

export function registerEndpointsRequest(endpoints: Command): void {
  endpoints
    .command('request')
    .description('call an endpoint through its circuit and wait for the response; nothing is stored')
    .argument('<name>')
    .option('--path <path>', "after the endpoint's URL")
    .option('--method <method>', 'GET, POST, PUT, PATCH or DELETE')
    .option('--header <name: value>', 'repeat for more', collectHeader)
    .option('--payload <json|@file|->', 'the body')
    .action((name: string, flags: RequestFlags, command: Command) =>
      withApi(command, async ({ client, output }) => {
        const { path, method, header: headers } = flags
        const payload = flags.payload === undefined ? undefined : await readPayload(flags.payload)
        const answer = await client.request(name, given({ path, method, headers, payload }))
        output.data(answer, () => printable(answer.body ?? ''))
        const status = answer.status === null ? 'no answer' : `status ${answer.status}`
        const why = answer.error === undefined ? '' : `: ${printable(answer.error.message)}`
        output.message(
          `${status} after ${Math.round(answer.latencyMs)} ms, attempts ${answer.attempts}${why}`,
        )
        if (!answer.ok) process.exitCode = exitCode.failure
      }),
    )
}
