import { isIPv6 } from 'node:net'
import { Client } from 'pg'
import { parseDatabaseUrl } from './database-url.ts'

/**
 * The hosts and ports of a database URL for display, without user and password.
 *
 * @example describeHosts('postgres://ada:s3cret@db1,db2:5433/app') // 'db1:5432, db2:5433'
 */
export function describeHosts(url: string): string {
  return parseDatabaseUrl(url).connectionStrings.map(addressOf).join(', ')
}

/** The address in a URL with one host. `pg` fills in what the URL leaves to the environment or to the defaults. */
export function addressOf(connectionString: string): string {
  const { host, port } = new Client({ connectionString })
  if (host.startsWith('/')) return `${host}/.s.PGSQL.${port}`
  return isIPv6(host) ? `[${host}]:${port}` : `${host}:${port}`
}
