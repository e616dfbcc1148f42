import type { Permission } from '../../src/core/roles.ts'
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
    ],
  },
  {
    name: 'Destinations',
    sections: [
      { path: '/endpoints', name: 'Endpoints', icon: 'endpoint', key: 'e' },
      { path: '/routes', name: 'Routes', icon: 'route', key: 'r' },
    ],
  },
]

export const allSections: readonly Section[] = sectionGroups.flatMap(({ sections }) => sections)
