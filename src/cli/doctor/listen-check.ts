import { testSessionSupport } from '../../postgres/self-test.ts'
import { type Finding, ok, warn } from '../../sdk/checks/check.ts'

export async function checkListen(databaseUrl: string): Promise<Finding> {
  const { reason } = await testSessionSupport(databaseUrl)
  if (reason === null) return ok('listen', 'notifications arrive, sessions keep their state')
  return warn('listen', reason, 'Holdfast works, with up to a second more latency when idle.')
}
