import { HoldfastError } from '../../core/errors.ts'

/** The kind of server to connect to, in libpq's terms. */
export type SessionAttributes = 'any' | 'read-write' | 'primary'

/** A database URL as libpq reads it: one or several hosts, of which the first suitable one is used. */
export interface DatabaseTarget {
  /** One URL for `pg` per host, in the order in which they are tried. */
  readonly connectionStrings: readonly [string, ...string[]]
  readonly sessionAttributes: SessionAttributes
}

interface HostAndPort {
  readonly host: string
  /** Null: the default port. */
  readonly port: string | null
}

/** scheme://authority/path?query#fragment */
const urlPattern = /^([a-z][a-z0-9+.-]*:\/\/)([^/?#]*)([^?#]*)(?:\?([^#]*))?(#.*)?$/i
const maxPort = 65_535
export const exampleUrl = 'postgres://user:password@host:5432/database'

/**
 * Splits a URL with several hosts, which `pg` can't parse, into one URL per host. A URL with one host is returned unchanged, so that `pg`
 * parses everything it supports: unix sockets, `host=` and `port=`, and the rest.
 *
 * @example parseDatabaseUrl('postgres://ada@db1:5432,db2:5433/app').connectionStrings
 * // ['postgres://ada@db1:5432/app', 'postgres://ada@db2:5433/app']
 */
export function parseDatabaseUrl(url: string): DatabaseTarget {
  refuseOtherDatabases(url)
  const [, scheme, authority = '', path = '', queryText = '', fragment = ''] = urlPattern.exec(url) ?? []
  if (scheme === undefined) return { connectionStrings: [url], sessionAttributes: 'any' }
  const query = new URLSearchParams(queryText)
  // The last @ ends the password, which may contain unencoded ones.
  const userInfo = authority.slice(0, authority.lastIndexOf('@') + 1)
  const named = authority.slice(userInfo.length).split(',')
  const inQuery = query.get('host')?.split(',') ?? []
  const ports = query.get('port')?.split(',') ?? []
  const isList = named.length > 1 || inQuery.length > 1
  const sessionAttributes = readSessionAttributes(query, isList)
  if (!isList && ports.length <= 1) return { connectionStrings: [url], sessionAttributes }
  if (named.length > 1 && inQuery.length > 0) {
    throw invalid('names hosts twice: before the database and in host=. Leave one of them out.')
  }
  const hosts = inQuery.length > 0 ? inQuery.map((host) => ({ host, port: null })) : named.map(splitPort)
  const connectionStrings = withPorts(hosts, ports).map(({ host, port }) => {
    if (host === '') throw invalid('has an empty host name in its list of hosts. Remove the extra comma.')
    const rest = new URLSearchParams(query)
    rest.delete('port')
    if (inQuery.length === 0) {
      const hostAndPort = port === null ? host : `${host}:${port}`
      return `${scheme}${userInfo}${hostAndPort}${path}${asQuery(rest)}${fragment}`
    }
    rest.set('host', host)
    if (port !== null) rest.set('port', port)
    return `${scheme}${userInfo}${named[0] ?? ''}${path}${asQuery(rest)}${fragment}`
  })
  const [first, ...others] = connectionStrings
  if (first === undefined) throw new Error('a list of hosts was split into none')
  return { connectionStrings: [first, ...others], sessionAttributes }
}

/** For a URL that may come from the environment: throws the error of `parseDatabaseUrl` if it is missing. */
export function requireDatabaseUrl(url: string | undefined): string {
  refuseOtherDatabases(url)
  return url ?? ''
}

/** `pg` accepts anything: an empty URL as a server on this machine, and `mysql://` as PostgreSQL. */
function refuseOtherDatabases(url: unknown): void {
  if (typeof url !== 'string' || url.trim() === '') {
    throw invalid(`is missing: set databaseUrl (HOLDFAST_DATABASE_URL) to one like ${exampleUrl}.`)
  }
  if (url.startsWith('/') || /^(?:postgres|postgresql|socket):/i.test(url)) return
  const [scheme] = /^[a-z][a-z0-9+.-]*:(?=\/\/)/i.exec(url) ?? []
  throw invalid(
    scheme === undefined
      ? `has no scheme. Write it like ${exampleUrl}.`
      : `begins with ${scheme}//, but Holdfast runs on PostgreSQL. Write it like ${exampleUrl}.`,
  )
}

function splitPort(text: string): HostAndPort {
  const [, host = '', port] = /^(\[[^\]]*\]|[^:]*)(?::(.*))?$/.exec(text) ?? []
  return {
    host: host === '' ? text : host,
    port: port === undefined || port === '' ? null : checkedPort(port),
  }
}

/** `port=` is one port for all hosts, or a list with one port for each. */
function withPorts(hosts: readonly HostAndPort[], ports: readonly string[]): readonly HostAndPort[] {
  if (ports.length === 0) return hosts
  if (ports.length > 1 && ports.length !== hosts.length) {
    throw invalid(
      `has ${hosts.length} ${hosts.length === 1 ? 'host' : 'hosts'} and ${ports.length} ports in port=. ` +
        'Name one port for all hosts, or one for each.',
    )
  }
  return hosts.map(({ host }, index) => {
    const port = (ports.length === 1 ? ports[0] : ports[index]) ?? ''
    return { host, port: port === '' ? null : checkedPort(port) }
  })
}

function checkedPort(text: string): string {
  const port = Number(text)
  if (/^\d{1,5}$/.test(text) && port >= 1 && port <= maxPort) return text
  throw invalid(`has "${text}" where a port number is expected. Write each host as name:port.`)
}

/**
 * Holdfast writes on every connection, so of several hosts the writable one is meant, unless the URL says `any`. With
 * one host there is no choice, and no check after each connect.
 */
function readSessionAttributes(query: URLSearchParams, isList: boolean): SessionAttributes {
  const text = query.get('target_session_attrs')
  if (text === null) return isList ? 'read-write' : 'any'
  if (text === 'any' || text === 'read-write' || text === 'primary') return text
  if (text === 'read-only' || text === 'standby' || text === 'prefer-standby') {
    throw invalid(
      `has target_session_attrs=${text}, but Holdfast writes on every connection and can't work on a standby. ` +
        'Use target_session_attrs=read-write.',
    )
  }
  throw invalid(`has target_session_attrs=${text}, which is unknown. Use read-write, primary or any.`)
}

function asQuery(query: URLSearchParams): string {
  return query.size === 0 ? '' : `?${query.toString()}`
}

function invalid(problem: string): HoldfastError {
  return new HoldfastError('configuration_invalid', `The database URL ${problem}`)
}
