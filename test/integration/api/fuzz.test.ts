import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { errorCatalogue } from '../../../src/core/errors.ts'
import { ApiDocument, type DescribedOperation } from '../../support/api/api-document.ts'
import { ApiRig } from '../../support/api/api-rig.ts'
import { type HostileRequest, hostileRequests } from '../../support/api/hostile-requests.ts'
import { exchange, type RawAnswer } from '../../support/api/raw-http.ts'
import { HttpReceiver } from '../../support/receivers/http-receiver.ts'
import { SeededRandom } from '../../torture/seeded-random.ts'

/** Another seed, and more values for each field, for a longer search: FUZZ_SEED=7 FUZZ_VALUES=40. */
const seed = Number(process.env['FUZZ_SEED'] ?? 1)
const valuesPerField = Number(process.env['FUZZ_VALUES'] ?? 2)
const concurrency = 6

const document = new ApiDocument()
const random = new SeededRandom(seed)
let rig: ApiRig
let receiver: HttpReceiver
let key: string
let total = 0

beforeAll(async () => {
  rig = await ApiRig.create({ allowNetworks: ['127.0.0.0/8'], allowPorts: 'any' })
  key = await rig.keyOf('admin')
  receiver = await HttpReceiver.start()
  await rig.holdfast.endpoints.create({ name: 'crm', config: { url: receiver.url } })
  await rig.holdfast.endpoints.create({ name: 'asked', config: { url: receiver.url } })
  await rig.holdfast.routes.create({ name: 'orders-to-crm', eventType: 'order.*', endpoint: 'crm' })
  await rig.holdfast.eventTypes.create({ name: 'order.created' })
})

afterAll(async () => {
  expect(rig.complaints).toEqual([])
  await rig.stop()
  await receiver.stop()
})

describe(`no input makes a call fail on our side, hang or tell of our insides (seed ${seed})`, () => {
  test.each(document.operations.filter(({ id }) => id !== 'followStream'))('$id', async (operation) => {
    // What is sent out goes to our own receiver; `crm` may have been turned into anything by now.
    const params = /^(?:test|request)Endpoint$/.test(operation.id) ? { name: 'asked' } : {}
    const requests = hostileRequests(operation, { document, random, valuesPerField, params })
    total += requests.length
    const findings: string[] = []
    const next = async (): Promise<void> => {
      for (let request = requests.pop(); request !== undefined; request = requests.pop()) {
        const { answers } = await exchange(rig.server.url, bytesOf(request, key))
        const found = judge(operation, request, answers.at(-1))
        if (found.length > 0) findings.push(`${request.what}\n    ${found.join('\n    ')}`)
      }
    }
    await Promise.all(Array.from({ length: concurrency }, next))
    expect(findings.join('\n')).toBe('')
  })

  test('the search was a search', () => {
    expect(total).toBeGreaterThan(2000)
  })
})

/** Traces, SQL, files, addresses: nothing of it is a caller's business. */
const insides =
  /\bat \S+ \(|node_modules|\.(?:ts|js):\d|SQLSTATE|HF0\d\d|\bselect .+ from\b|\binsert into\b|relation "|column "|constraint|pg_|PL\/pgSQL|syntax for type|byte sequence|ECONN|EPIPE|\/(?:tmp|home|work|usr)\/|FST_|Zod|undefined|\[object/

function judge(
  operation: DescribedOperation,
  request: HostileRequest,
  answer: RawAnswer | undefined,
): string[] {
  if (answer === undefined) return ['no answer within the deadline']
  const { status, headers, body } = answer
  const findings: string[] = []
  const contentType = headers['content-type'] ?? ''
  const isJson = contentType.includes('json')
  const value = isJson ? (JSON.parse(body) as Record<string, unknown>) : body
  // Another path than the one that was meant may have no call, or other ones.
  if (status !== 404 && status !== 405) {
    findings.push(...document.problemsOf(operation, status, contentType, value))
  }
  if (status >= 500 && status !== 503) findings.push(`${status} ${body.slice(0, 300)}`)
  if (status >= 400) findings.push(...judgeProblem(status, contentType, value))
  if (status >= 400 && insides.test(body)) findings.push(`tells of our insides: ${body.slice(0, 500)}`)
  if (body.includes(key)) findings.push('tells the key')
  for (const name of request.unknownFields) {
    const problems = (value as { problems?: { path: string }[] }).problems ?? []
    if (!problems.some(({ path }) => path === name))
      findings.push(`${name} is not named: ${status} ${body.slice(0, 300)}`)
  }
  return findings
}

function judgeProblem(status: number, contentType: string, value: unknown): string[] {
  if (!contentType.startsWith('application/problem+json')) return [`${status} as ${contentType}`]
  const problem = value as { code: string; status: number }
  if (!(problem.code in errorCatalogue)) return [`unknown code ${problem.code}`]
  return problem.status === status ? [] : [`says ${problem.status}, is ${status}`]
}

function bytesOf({ method, path, headers, body }: HostileRequest, apiKey: string): Buffer {
  const sent: Record<string, string> = {
    host: 'holdfast.test',
    authorization: `Bearer ${apiKey}`,
    connection: 'close',
    ...(body !== null && {
      'content-type': 'application/json',
      'content-length': String(Buffer.byteLength(body)),
    }),
    ...headers,
  }
  const lines = Object.entries(sent).map(([name, value]) => `${name}: ${value}`)
  return Buffer.concat([
    Buffer.from(`${method} ${path} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`, 'latin1'),
    typeof body === 'string' ? Buffer.from(body) : (body ?? Buffer.alloc(0)),
  ])
}
