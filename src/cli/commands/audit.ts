import type { Command } from 'commander'
import { operations } from '../../contract/operations.ts'
import { textOf } from '../output/field-list.ts'
import { addList } from '../output/noun.ts'
import { printable } from '../output/table.ts'

export function registerAudit(program: Command): void {
  const audit = program.command('audit').description('who changed what')
  addList(audit, {
    description: 'list changes, the newest first',
    operation: operations.access.audit,
    columns: (output) => [
      { title: 'AT', value: ({ at }) => output.when(at) },
      { title: 'ACTOR', canShrink: true, value: ({ actor }) => printable(actor) },
      { title: 'ACTION', canShrink: true, value: ({ action }) => printable(action) },
      { title: 'SUBJECT', canShrink: true, value: ({ subject }) => printable(subject) },
      { title: 'DETAIL', canShrink: true, isExtra: true, value: ({ detail }) => textOf(detail) },
    ],
    nothing: () => 'There are no such changes.',
  })
}
