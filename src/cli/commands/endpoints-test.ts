import type { Command } from 'commander'
import { withApi } from '../connection/with-api.ts'
import { readPayload } from '../input/read-json-argument.ts'
import { responseFields } from '../output/exchange-fields.ts'
import { exitCode } from '../output/exit-code.ts'
import { formatFields } from '../output/field-list.ts'
import { printable } from '../output/table.ts'

export function registerEndpointsTest(endpoints: Command): void {
  endpoints
    .command('test')
    .description('send one signed test event, and explain what the receiver did')
    .argument('<name>')
    .option('--payload <json|@file|->', "instead of the test's own")
    .action((name: string, flags: { payload?: string }, command: Command) =>
      withApi(command, async ({ client, output }) => {
        const body = flags.payload === undefined ? {} : { payload: await readPayload(flags.payload) }
        const result = await client.endpoints.test({ params: { name }, body })
        const colour = result.ok ? 'green' : 'red'
        output.data(result, () =>
          [
            `${output.paintData(colour, result.finding)}  ${printable(result.explanation)} (${Math.round(result.durationMs)} ms)`,
            ...(result.response === null
              ? []
              : [formatFields(output, responseFields({ ...result.response }))]),
          ].join('\n\n'),
        )
        if (!result.ok) process.exitCode = exitCode.failure
      }),
    )
}
