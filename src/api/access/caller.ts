import type { Role } from '../../core/roles.ts'

/** Who makes a call. */
export interface Caller {
  /** As the audit log has it: `key:shop`. */
  readonly actor: string
  readonly name: string
  readonly role: Role
  /** Whose idempotency keys these are. */
  readonly owner: string
  /** Null: by a key in the request itself, which no other site can make a browser send. */
  readonly csrfToken: string | null
}
