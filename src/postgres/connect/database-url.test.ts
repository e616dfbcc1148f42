import { Client } from 'pg'
import { describe, expect, test } from 'vitest'
import { parseDatabaseUrl } from './database-url.ts'

/** Where `pg` would connect to, and as whom. */
function asPgReads(url: string) {
  return parseDatabaseUrl(url).connectionStrings.map((connectionString) => {
    const { host, port, user, password, database } = new Client({ connectionString })
    return { host, port, user, password, database }
  })
}

describe('a URL with one host stays as it is', () => {
  test.each([
    'postgres://ada:s3cret@db:5432/app',
    'postgresql://db/app?sslmode=disable&application_name=a%20b',
    'postgres://[::1]:5433/app',
    'postgres://ada@%2Fvar%2Frun%2Fpostgresql/app',
    'postgres:///app?host=/var/run/postgresql',
    'postgres://ada@/app?host=/var/run/postgresql&port=5433',
    'postgres://db/app?host=other&port=5433',
    'postgres://ada:p%2Cw%40%2F%3A@db/app',
    'postgres://ada:p,w@db/app',
    'postgres://ada:p@x,y:1@db:5432/app',
    'socket:/var/run/postgresql?db=app',
    '/var/run/postgresql app',
  ])('%s', (url) => {
    expect(parseDatabaseUrl(url)).toEqual({ connectionStrings: [url], sessionAttributes: 'any' })
  })

  test('also when it says which server it wants', () => {
    const url = 'postgres://db/app?target_session_attrs=read-write'
    expect(parseDatabaseUrl(url)).toEqual({ connectionStrings: [url], sessionAttributes: 'read-write' })
  })
})

describe('several hosts', () => {
  test('each with its own port, in order', () => {
    expect(parseDatabaseUrl('postgres://ada:s3cret@a:5432,b:5433,c/app?sslmode=disable')).toEqual({
      connectionStrings: [
        'postgres://ada:s3cret@a:5432/app?sslmode=disable',
        'postgres://ada:s3cret@b:5433/app?sslmode=disable',
        'postgres://ada:s3cret@c/app?sslmode=disable',
      ],
      sessionAttributes: 'read-write',
    })
  })

  test('without a user, a database or a query', () => {
    expect(parseDatabaseUrl('postgres://a,b').connectionStrings).toEqual(['postgres://a', 'postgres://b'])
  })

  test.each([
    ['encoded', 'p%2Cw%40%2F%3A%25%20x', 'p,w@/:% x'],
    ['a comma and colons that nobody encoded', 'p,w:1,b:2', 'p,w:1,b:2'],
    ['an @ that nobody encoded', 'p@w', 'p@w'],
    ['an empty one', '', null],
  ])('a password with special characters: %s', (_, written, meant) => {
    const found = asPgReads(`postgres://ada:${written}@a:5432,b:5433/app`)
    expect(found).toMatchObject([
      { host: 'a', port: 5432, user: 'ada', database: 'app' },
      { host: 'b', port: 5433, user: 'ada', database: 'app' },
    ])
    if (meant !== null) expect(found.map(({ password }) => password)).toEqual([meant, meant])
  })

  test('IPv6 addresses', () => {
    expect(asPgReads('postgres://[::1]:5433,[fe80::2],10.0.0.1:5434/app')).toMatchObject([
      { host: '::1', port: 5433 },
      { host: 'fe80::2', port: 5432 },
      { host: '10.0.0.1', port: 5434 },
    ])
  })

  test('in host=, with a port for each', () => {
    expect(asPgReads('postgres://ada:s3cret@/app?host=a,b&port=5432,5433')).toMatchObject([
      { host: 'a', port: 5432, user: 'ada', password: 's3cret', database: 'app' },
      { host: 'b', port: 5433, user: 'ada', password: 's3cret', database: 'app' },
    ])
  })

  test('in host=, with one port for all, and as IPv6 addresses', () => {
    expect(asPgReads('postgres:///app?host=::1,fe80::2&port=5434')).toMatchObject([
      { host: '::1', port: 5434, database: 'app' },
      { host: 'fe80::2', port: 5434, database: 'app' },
    ])
  })

  test('before the database, with their ports in port=', () => {
    expect(asPgReads('postgres://a,b/app?port=5434,5435')).toMatchObject([
      { host: 'a', port: 5434 },
      { host: 'b', port: 5435 },
    ])
  })

  test('that are unix sockets', () => {
    expect(asPgReads('postgres:///app?host=/var/run/a,/var/run/b&port=5433')).toMatchObject([
      { host: '/var/run/a', port: 5433, database: 'app' },
      { host: '/var/run/b', port: 5433, database: 'app' },
    ])
    expect(asPgReads('postgres://%2Frun%2Fa,%2Frun%2Fb:5433/app')).toMatchObject([
      { host: '/run/a', port: 5432, database: 'app' },
      { host: '/run/b', port: 5433, database: 'app' },
    ])
  })

  test('of which any will do', () => {
    expect(parseDatabaseUrl('postgres://a,b/app?target_session_attrs=any').sessionAttributes).toBe('any')
    expect(parseDatabaseUrl('postgres://a,b/app?target_session_attrs=primary').sessionAttributes).toBe(
      'primary',
    )
  })
})

describe('is refused, with what to do and without the password', () => {
  test.each([
    ['read-only', 'Use target_session_attrs=read-write.'],
    ['standby', 'Use target_session_attrs=read-write.'],
    ['prefer-standby', 'Use target_session_attrs=read-write.'],
    ['master', 'Use read-write, primary or any.'],
  ])('target_session_attrs=%s', (attributes, advice) => {
    for (const hosts of ['a', 'a,b']) {
      const parse = () => parseDatabaseUrl(`postgres://${hosts}/app?target_session_attrs=${attributes}`)
      expect(parse).toThrow(advice)
      expect(parse).toThrow(`target_session_attrs=${attributes}`)
    }
  })

  test.each([
    [
      'a port that is none',
      'postgres://ada:s3cret@a:5432,b:no/app',
      'has "no" where a port number is expected',
    ],
    ['a port that is too high', 'postgres://ada:s3cret@a,b:70000/app', 'has "70000" where a port number'],
    ['an empty host', 'postgres://ada:s3cret@a,,b/app', 'Remove the extra comma.'],
    ['hosts twice', 'postgres://ada:s3cret@a,b/app?host=c', 'Leave one of them out.'],
    ['more ports than hosts', 'postgres://ada:s3cret@a/app?port=1,2', 'has 1 host and 2 ports'],
    ['fewer ports than hosts', 'postgres://ada:s3cret@a,b,c/app?port=1,2', 'has 3 hosts and 2 ports'],
  ])('%s', (_, url, message) => {
    expect(() => parseDatabaseUrl(url)).toThrow(message)
    expect(() => parseDatabaseUrl(url)).not.toThrow('s3cret')
  })
})

describe('what is no PostgreSQL is refused in one sentence that says what to write', () => {
  test.each([undefined, null, '', '  '])('%j is missing', (url) => {
    expect(() => parseDatabaseUrl(url as string)).toThrow(
      'The database URL is missing: set databaseUrl (HOLDFAST_DATABASE_URL) to one like postgres://user:password@host:5432/database.',
    )
  })

  test.each(['mysql', 'http', 'mongodb+srv'])('%s:// is another server', (scheme) => {
    const url = `${scheme}://ada:s3cret@db/app`
    expect(() => parseDatabaseUrl(url)).toThrow(
      `The database URL begins with ${scheme}://, but Holdfast runs on PostgreSQL. Write it like postgres://user:password@host:5432/database.`,
    )
  })

  test.each(['ada:s3cret@db/app', 'db.example.com', 'host=db user=ada'])('%s has no scheme', (url) => {
    expect(() => parseDatabaseUrl(url)).toThrow(
      /^The database URL has no scheme\. Write it like postgres:\/\/user:password@host:5432\/database\.$/,
    )
  })
})
