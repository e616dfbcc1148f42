import type { ItemOf } from '../../api/use-api.ts'
import type { Column } from '../../parts/column.ts'
import { Time } from '../../parts/time.tsx'
import { changeWords } from '../overview/change-words.ts'

export type AuditEntry = ItemOf<'access.audit'>

/** When, what and who: what every list of the audit log begins with. */
export const auditColumns: readonly Column<AuditEntry>[] = [
  { id: 'at', header: 'Time', phone: 'detail', cell: ({ at }) => <Time at={at} /> },
  {
    id: 'what',
    header: 'What',
    phone: 'title',
    cell: ({ action, subject }) => <span className="text">{changeWords(action, subject)}</span>,
  },
  { id: 'who', header: 'Who', phone: 'aside', cell: ({ actor }) => <bdi>{actor}</bdi> },
]
