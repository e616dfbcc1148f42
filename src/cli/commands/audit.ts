import type { Command } from 'commander'
import { operations } from '../../contract/operations.ts'
import { textOf } from '../field-list.ts'
import { addList } from '../noun.ts'
import { printable } from '../table.ts'

export function registerAudit(program: Command): void {
  const audit = program.command('audit').description('who changed what')
  addList(audit, {
    description: 'list changes, the newest first',
    operation: operations.access.audit,
    columns: () => [
      { title: 'AT', value: ({ at }) => at.toISOString() },
      { title: 'ACTOR', value: ({ actor }) => printable(actor) },
      { title: 'ACTION', value: ({ action }) => printable(action) },
      { title: 'SUBJECT', value: ({ subject }) => printable(subject) },
      { title: 'DETAIL', value: ({ detail }) => textOf(detail).slice(0, 80) },
    ],
    nothing: () => 'Nothing of the kind was changed.',
  })
}
