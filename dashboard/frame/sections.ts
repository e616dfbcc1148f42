import type { Permission } from '../../src/core/access/roles.ts'
import type { IconName } from '../parts/icon.tsx'

export interface Section {
  readonly path: string
  readonly name: string
  readonly icon: IconName
  /** `g` and then this key. */
  readonly key?: string
  readonly permission?: Permission
}

export interface SectionGroup {
  readonly name: string | null
  readonly sections: readonly Section[]
}

/** What the navigation shows, in its order. */
export const sectionGroups: readonly SectionGroup[] = [
  { name: null, sections: [{ path: '/', name: 'Overview', icon: 'overview', key: 'o' }] },
  {
    name: 'Messages',
    sections: [
      { path: '/events', name: 'Events', icon: 'event', key: 'v' },
      { path: '/deliveries', name: 'Deliveries', icon: 'delivery', key: 'd' },
      { path: '/dead-letters', name: 'Dead letters', icon: 'letter', key: 'l' },
      { path: '/operations', name: 'Operations', icon: 'operation' },
      { path: '/replays', name: 'Replays', icon: 'replay' },
    ],
  },
  {
    name: 'Destinations',
    sections: [
      { path: '/endpoints', name: 'Endpoints', icon: 'endpoint', key: 'e' },
      { path: '/routes', name: 'Routes', icon: 'route', key: 'r' },
      { path: '/event-types', name: 'Event types', icon: 'type' },
      { path: '/sources', name: 'Sources', icon: 'database' },
    ],
  },
  {
    name: 'Jobs',
    sections: [
      { path: '/jobs', name: 'Jobs', icon: 'job', key: 'j' },
      { path: '/runs', name: 'Runs', icon: 'play', key: 'u' },
      { path: '/queues', name: 'Queues', icon: 'queue' },
      { path: '/workers', name: 'Workers', icon: 'worker', key: 'w' },
      { path: '/schedules', name: 'Schedules', icon: 'calendar' },
    ],
  },
  {
    name: 'Site',
    sections: [
      { path: '/alerts', name: 'Alerts', icon: 'bell', key: 'a' },
      { path: '/system', name: 'System', icon: 'server' },
      { path: '/broker', name: 'Broker', icon: 'broker' },
      { path: '/settings', name: 'Settings', icon: 'settings' },
      { path: '/audit', name: 'Audit', icon: 'audit', permission: 'administer' },
      { path: '/api-keys', name: 'API keys', icon: 'apiKey', permission: 'administer' },
    ],
  },
]

export const allSections: readonly Section[] = sectionGroups.flatMap(({ sections }) => sections)
