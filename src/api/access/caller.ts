import type { Role } from '../../core/access/roles.ts'

/** The credential of a request. It may be revoked while a stream is open. */
export type Credential =
  /** The key of the environment: it holds as long as the process runs. */
  | { readonly kind: 'configured' }
  | { readonly kind: 'key'; readonly keyId: string }
  /** `tokenHash` in base64. `keyId`: the stored key that it began with. */
  | { readonly kind: 'session'; readonly tokenHash: string; readonly keyId: string | null }

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
  readonly credential: Credential
}
