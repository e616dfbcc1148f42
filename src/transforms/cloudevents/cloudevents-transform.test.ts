import { type CloudEvent, HTTP } from 'cloudevents'
import { describe, expect, it } from 'vitest'
import { sampleInput } from '../sample-input.ts'
import type { Rendered, TransformConfigError, TransformInput } from '../transform.ts'
import { encodeAttributeHeader } from './attribute-header.ts'
import { cloudeventsTransform } from './cloudevents-transform.ts'

const order = { id: 'o-7', total: 12.5, lines: [{ sku: 'x1' }] }
const config = {
  source: '/shops/{{ $tenant }}',
  subject: 'order {{ id }}',
  dataschema: 'https://example.com/order.json',
  extensions: { region: '{{ $headers.x-region }}', absent: '{{ nothing }}', partition: 3, sampled: true },
}

async function render(changes: object = {}, input: TransformInput = sampleInput(order)): Promise<Rendered> {
  const result = await cloudeventsTransform()
    .compile({ ...config, ...changes })
    .render(input)
  if (!result.ok) throw new Error(result.error.code)
  return result.rendered
}

function parse({ body, headers, contentType }: Rendered): CloudEvent<unknown> {
  return HTTP.toEvent({ body, headers: { ...headers, 'content-type': contentType } }) as CloudEvent<unknown>
}

describe('cloudevents', () => {
  it.each(['structured', 'binary'])('sends in %s mode what the SDK of CloudEvents reads', async (mode) => {
    const event = parse(await render({ mode, subject: 'order-{{ id }}' }))
    expect(event.validate()).toBe(true)
    expect(event).toMatchObject({
      specversion: '1.0',
      id: 'msg_1',
      type: 'order.created',
      source: '/shops/acme',
      subject: 'order-o-7',
      time: '2030-01-31T09:00:00.000Z',
      datacontenttype: 'application/json',
      dataschema: 'https://example.com/order.json',
      region: 'eu',
      data: order,
    })
    expect(event['absent']).toBeUndefined()
    expect(String(event['partition'])).toBe('3')
    expect(String(event['sampled'])).toBe('true')
  })

  it('carries the payload byte for byte in both modes', async () => {
    const body = '{ "n" : 12345678901234567890 }'
    const binary = await render({ mode: 'binary', subject: 's' }, sampleInput(body))
    expect(binary).toMatchObject({ body, contentType: 'application/json' })
    expect((await render({ subject: 's' }, sampleInput(body))).body).toMatch(
      /,"data":\{ "n" : 12345678901234567890 \}\}$/,
    )
  })

  it('percent-encodes in headers what the binding says', async () => {
    expect(encodeAttributeHeader('Euro € 😀')).toBe('Euro%20%E2%82%AC%20%F0%9F%98%80')
    expect(encodeAttributeHeader('a"b%c~!')).toBe('a%22b%25c~!')
    const { headers } = await render({ mode: 'binary' })
    expect(headers).toMatchObject({ 'ce-subject': 'order%20o-7', 'ce-specversion': '1.0' })
    expect(headers).not.toHaveProperty('ce-datacontenttype')
  })

  it('sends a batch that the SDK reads as several events', async () => {
    const result = await cloudeventsTransform()
      .compile({ ...config, mode: 'binary' })
      .renderBatch([sampleInput(order), sampleInput(order, { messageId: 'msg_2' })])
    if (!result.ok) throw new Error(result.error.code)
    const { body, contentType } = result.rendered
    expect(contentType).toBe('application/cloudevents-batch+json; charset=utf-8')
    const events = HTTP.toEvent({ body, headers: { 'content-type': contentType } }) as CloudEvent<unknown>[]
    expect(events.map(({ id }) => id)).toEqual(['msg_1', 'msg_2'])
  })

  it('needs a type, from the message or from the configuration', async () => {
    const untyped = sampleInput(order, { eventType: null })
    await expect(render({}, untyped)).rejects.toThrow('cloudevents_missing_type')
    expect(parse(await render({ defaultEventType: 'message' }, untyped)).type).toBe('message')
  })

  it('fails on a value that CloudEvents can not carry', async () => {
    await expect(render({}, sampleInput({ id: 'a\nb' }))).rejects.toThrow('cloudevents_invalid_value')
    await expect(render({ source: '{{ nothing }}' })).rejects.toThrow('cloudevents_invalid_value')
  })

  it.each([
    [{ source: undefined }, 'source'],
    [{ mode: 'both' }, 'mode'],
    [{ subject: '{{ a' }, 'subject'],
    [{ extensions: { 'Bad-Name': 'x' } }, 'extensions.Bad-Name'],
    [{ extensions: { id: 'x' } }, 'extensions.id'],
    [{ extensions: { big: 2 ** 40 } }, 'extensions.big'],
  ])('refuses %j when it is created', (changes, path) => {
    let error: unknown
    try {
      cloudeventsTransform().compile({ ...config, ...changes })
    } catch (caught) {
      error = caught
    }
    expect((error as TransformConfigError).path).toBe(path)
  })
})
