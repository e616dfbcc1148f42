import { learningConfig } from '../learning/learning-config.ts'
import {
  type LearningFormat,
  type LearningOptions,
  LearningTransform,
} from '../learning/learning-transform.ts'
import { parseTransformConfig } from '../parse-config.ts'
import type { Transform } from '../transform.ts'
import { type CaliperEvent, caliperContext } from './caliper-event.ts'
import { isCaliperKind } from './kinds.ts'
import { makeEvents } from './make-event.ts'

const caliperConfig = learningConfig('caliper')

/**
 * Converts tracking events of a learning platform to Caliper 1.2 events, in the envelope that Caliper endpoints accept.
 *
 * @example
 * caliperTransform(options).compile({ platformUrl: 'https://learn.example', actor: { from: 'map', map: { ada: '7f…' } } })
 */
export function caliperTransform(options: LearningOptions): Transform {
  return {
    name: 'caliper',
    secrets: [['actor', 'key']],
    compile: (config) => compileCaliper(config, options),
  }
}

export function compileCaliper(config: unknown, options: LearningOptions) {
  const settings = parseTransformConfig(caliperConfig, config)
  return new LearningTransform(settings, caliperFormat(settings.platformUrl), options)
}

function caliperFormat(sensor: string): LearningFormat<CaliperEvent> {
  return {
    name: 'Caliper',
    isKind: isCaliperKind,
    // The envelope's time is the only part that is new at each attempt.
    isCacheable: false,
    make: makeEvents,
    write: (events, nowMs) => ({
      body: JSON.stringify({
        sensor,
        sendTime: new Date(nowMs).toISOString(),
        dataVersion: caliperContext,
        data: sentOnce(events),
      }),
      contentType: 'application/json',
      headers: {},
    }),
  }
}

function sentOnce(events: readonly CaliperEvent[]): readonly CaliperEvent[] {
  return events.length <= 1 ? events : [...new Map(events.map((event) => [event.id, event])).values()]
}
