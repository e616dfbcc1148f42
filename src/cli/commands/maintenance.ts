import type { Command } from 'commander'
import { withApi } from '../connection/with-api.ts'
import { type WatchFlag, watch, watchOption } from '../interact/watch.ts'
import { textOf } from '../output/field-list.ts'

export function registerMaintenance(program: Command): void {
  const maintenance = program
    .command('maintenance')
    .description('tasks that one node runs for the whole cluster')
  maintenance
    .command('status')
    .description('show the leading node, and the last result of each task')
    .option(...watchOption)
    .action((flags: { watch?: WatchFlag }, command: Command) =>
      withApi(command, ({ client, output }) =>
        watch(flags.watch, async () => {
          const status = await client.maintenance.status()
          if (output.isJson) {
            output.line(JSON.stringify(status))
            return
          }
          output.table(
            [
              { title: 'TASK', value: ({ name }) => name },
              {
                title: 'STATE',
                value: ({ state }) => output.paintData(state === 'failing' ? 'red' : 'green', state),
              },
              { title: 'SUCCEEDED', value: ({ lastSucceededAt }) => output.when(lastSucceededAt) },
              { title: 'NEXT', value: ({ nextRunAt }) => output.when(nextRunAt) },
              { title: 'ERROR', canShrink: true, value: ({ lastError }) => textOf(lastError) },
            ],
            status.tasks,
          )
          output.message(`Leader: ${status.leader.node ?? 'none'}.`)
        }),
      ),
    )
  maintenance
    .command('run')
    .description('run a task now, within about a second')
    .argument('<task>')
    .action((task: string, _flags: unknown, command: Command) =>
      withApi(command, async ({ client, output }) => {
        await client.maintenance.run({ params: { task } })
        output.data({ task }, () => `${task} will run`)
      }),
    )
}
