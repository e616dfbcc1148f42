import type { Command } from 'commander'
import { operations } from '../../contract/operations.ts'
import { addList } from '../output/noun.ts'
import { printable } from '../output/table.ts'

export function registerCircuitChanges(program: Command): void {
  const changes = program.command('circuit-changes').description('when circuits opened and closed')
  addList(changes, {
    description: 'list changes of circuits, the newest first',
    operation: operations.circuitChanges.list,
    columns: (output) => [
      { title: 'AT', value: ({ at }) => output.when(at) },
      { title: 'ENDPOINT', value: ({ endpoint }) => endpoint ?? '(deleted)' },
      { title: 'FROM', value: ({ from }) => from },
      { title: 'TO', value: ({ to }) => output.paintData(to === 'closed' ? 'green' : 'red', to) },
      { title: 'FAILED PROBES', isNumber: true, value: ({ probes }) => String(probes) },
      { title: 'BY', value: ({ actor }) => printable(actor) },
    ],
    nothing: () => 'There are no such circuit changes.',
  })
}
