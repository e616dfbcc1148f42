import type { Field, Raw } from '../../forms/field.ts'

export const steps = [
  { id: 'transport', title: 'Transport', hint: 'its name, and how messages reach it' },
  { id: 'address', title: 'Address', hint: 'where, and with which credentials' },
  { id: 'events', title: 'Events', hint: 'which it gets' },
  { id: 'limits', title: 'Limits', hint: 'how fast, and how often again' },
  { id: 'review', title: 'Review', hint: 'then send a test' },
] as const

type Step = (typeof steps)[number]['id']

export const transportWords: Readonly<Record<string, { readonly name: string; readonly means: string }>> = {
  http: { name: 'HTTP', means: 'a signed request to a URL: webhooks, APIs' },
  function: { name: 'Function', means: 'a handler in a process that runs Holdfast' },
  smtp: { name: 'E-mail', means: 'a message to addresses, by the mail server of this installation' },
  amqp: { name: 'RabbitMQ', means: 'a confirmed publish to an exchange of a broker (AMQP 0-9-1)' },
}

const paths: Readonly<Record<Step, readonly string[]>> = {
  transport: ['name'],
  address: [
    'config.url',
    'config.secretPath',
    'config.method',
    'config.handler',
    'config.to',
    'config.from',
    'config.exchange',
    'config.routingKey',
    'config.username',
    'config.password',
    'config.auth.',
    'config.signing.scheme',
  ],
  events: ['eventTypes', 'tenant', 'contact', 'tags'],
  limits: ['preset', 'limits.concurrency', 'limits.ratePerSecond'],
  review: [],
}

export function fieldsOfStep(fields: readonly Field[], step: Step): readonly Field[] {
  return paths[step].flatMap((beginning) =>
    fields.filter(
      ({ path }) => path === beginning || (beginning.endsWith('.') && path.startsWith(beginning)),
    ),
  )
}

const presets: Readonly<Record<string, string>> = {
  standard: '10 retries in half an hour, then once every 5 minutes at most; a timeout of 10 s.',
  webhook: '7 retries over 28 hours at fixed, documented delays.',
  'high-traffic': '2 retries and a timeout of 3 s: many messages, none of which may hold up the others.',
  development: '3 quick retries, and a circuit that opens after 3 failures.',
  'must-deliver': '20 retries, and a circuit that is slow to open.',
  'record-store': 'Batches of up to 100 for a learning record store.',
}

export function presetWords(preset: Raw): string {
  return presets[typeof preset === 'string' && preset !== '' ? preset : 'standard'] ?? ''
}
