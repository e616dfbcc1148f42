import type { Command } from 'commander'
import { operations } from '../../contract/operations.ts'
import { withApi } from '../connection/with-api.ts'
import { textOf } from '../output/field-list.ts'
import { addList } from '../output/noun.ts'
import { printable } from '../output/table.ts'

export function registerWorkers(program: Command): void {
  const workers = program.command('workers').description('processes that execute runs')
  addList(workers, {
    description: 'list workers, their heartbeats and runs',
    operation: operations.jobs.listWorkers,
    columns: (output) => [
      { title: 'ID', isNumber: true, value: ({ id }) => String(id) },
      { title: 'NAME', canShrink: true, value: ({ name }) => printable(name) },
      {
        title: 'STATE',
        value: ({ state, blockedSince, blockedBy }) =>
          blockedSince === null
            ? output.paintData(state === 'active' ? 'green' : 'yellow', state)
            : output.paintData('red', `blocked by ${blockedBy.length === 0 ? 'no run' : textOf(blockedBy)}`),
      },
      { title: 'RUNNING', isNumber: true, value: ({ running, concurrency }) => `${running}/${concurrency}` },
      { title: 'QUEUES', canShrink: true, value: ({ queues }) => textOf(queues) },
      { title: 'LAST BEAT', value: ({ lastBeatAt }) => output.when(lastBeatAt) },
    ],
    nothing: () => 'There are no workers.',
  })
  for (const verb of ['drain', 'undrain'] as const) {
    workers
      .command(verb)
      .description(
        verb === 'drain'
          ? 'let a worker finish its runs and claim no new ones'
          : 'let a draining worker claim runs again',
      )
      .argument('<id>', 'as `workers list` shows it')
      .action((id: string, _flags: unknown, command: Command) =>
        withApi(command, async ({ client, output }) => {
          await client.jobs[`${verb}Worker`]({ params: { id } })
          output.data({ id }, () => `${id} ${verb === 'drain' ? 'is draining' : 'claims runs again'}`)
        }),
      )
  }
}
