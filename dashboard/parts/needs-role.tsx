import { type Permission, rolesWith } from '../../src/core/access/roles.ts'
import { session } from '../api/session.ts'
import { Empty } from './empty.tsx'

/** A direct link to what somebody may not see names the role that is needed. */
export function NeedsRole({ what, permission }: { readonly what: string; readonly permission: Permission }) {
  const [least = 'admin'] = rolesWith(permission)
  return (
    <div className="card">
      <Empty icon="lock" title={`${what} needs the role ${least}`}>
        <p>
          You are signed in as {session.name} with the role {session.role}.
        </p>
      </Empty>
    </div>
  )
}
