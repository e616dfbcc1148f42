import type { Role } from '../../core/access/roles.ts'

/** The credential of a request. It may be revoked while a stream is open. */
export type Credential =
  /** `HOLDFAST_ADMIN_KEY`: valid as long as the process runs. */
  | { readonly kind: 'configured' }
  | { readonly kind: 'key'; readonly keyId: string }
  /** `tokenHash` is Base64. `keyId`: the stored key that the session was started with; null for the configured key or a link. */
  | {
      readonly kind: 'session'
      readonly tokenHash: string
      readonly keyId: string | null
      readonly isOfConfiguredKey: boolean
    }

/** The author of a call. */
export interface Caller {
  /** Name in the audit log: `key:shop`. */
  readonly actor: string
  readonly name: string
  readonly role: Role
  /** The owner of the call's idempotency keys. */
  readonly owner: string
  /** Null: the request itself has a key, which no other site can make a browser send. */
  readonly csrfToken: string | null
  readonly credential: Credential
}
