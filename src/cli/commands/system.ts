import type { Command } from 'commander'
import { operations } from '../../contract/operations.ts'
import { withApi } from '../connection/with-api.ts'
import { type WatchFlag, watch, watchOption } from '../interact/watch.ts'
import { textOf } from '../output/field-list.ts'
import { addList } from '../output/noun.ts'
import { formatBytes } from '../output/units.ts'

export function registerSystem(program: Command): void {
  const system = program.command('system').description('nodes, the database, and the sizes of tables')
  system
    .command('status')
    .description('show the nodes with what they own, and the database')
    .option(...watchOption)
    .action((flags: { watch?: WatchFlag }, command: Command) =>
      withApi(command, ({ client, output }) =>
        watch(flags.watch, async () => {
          const status = await client.system.status()
          if (output.isJson) {
            output.line(JSON.stringify(status))
            return
          }
          output.table(
            [
              { title: 'NODE', canShrink: true, value: ({ name }) => name },
              {
                title: 'STATE',
                value: ({ state }) => output.paintData(state === 'lost' ? 'red' : 'green', state),
              },
              { title: 'LEADS', value: ({ isLeader }) => (isLeader ? 'yes' : '') },
              { title: 'VERSION', value: ({ version }) => version },
              { title: 'SHARDS', isNumber: true, value: ({ shards }) => String(shards) },
              { title: 'ENDPOINTS', isNumber: true, value: ({ endpoints }) => String(endpoints) },
              { title: 'HEARTBEAT', value: ({ lastBeatAt }) => output.when(lastBeatAt) },
            ],
            status.nodes,
          )
          const { version, bytes, connections, maxConnections } = status.database
          output.message(
            `PostgreSQL ${version}, ${formatBytes(bytes)}, ${connections} of ${maxConnections} connections. ${status.ownedShards} of 256 shards have an owner.`,
          )
        }),
      ),
    )
  addList(system, {
    verb: 'tables',
    description: 'list tables and partitions with their sizes',
    operation: operations.system.tables,
    columns: (output) => [
      { title: 'TABLE', canShrink: true, value: ({ name }) => name },
      { title: 'FROM', value: ({ from }) => output.when(from) },
      { title: 'SIZE', isNumber: true, value: ({ bytes }) => formatBytes(bytes) },
      { title: 'ROWS', isNumber: true, value: ({ rows }) => textOf(rows) },
      { title: 'DEAD', isNumber: true, value: ({ deadRows }) => String(deadRows) },
    ],
    nothing: () => 'There are no more tables.',
  })
  addList(system, {
    verb: 'checks',
    description: 'check the database from the server; `holdfast doctor` also checks this machine',
    operation: operations.system.checks,
    columns: (output) => [
      {
        title: 'VERDICT',
        value: ({ verdict }) =>
          output.paintData(verdict === 'ok' ? 'green' : verdict === 'warn' ? 'yellow' : 'red', verdict),
      },
      { title: 'CHECK', value: ({ check }) => check },
      { title: 'MESSAGE', canShrink: true, value: ({ message }) => message },
      { title: 'ADVICE', canShrink: true, isExtra: true, value: ({ advice }) => textOf(advice) },
    ],
    nothing: () => 'There is nothing to check.',
  })
}
