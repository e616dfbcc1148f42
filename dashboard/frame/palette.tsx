import { Autocomplete } from '@base-ui/react/autocomplete'
import { Dialog } from '@base-ui/react/dialog'
import { useNavigate } from '@tanstack/react-router'
import { useDeferredValue, useState } from 'react'
import { may } from '../api/session.ts'
import { Icon, type IconName } from '../parts/icon.tsx'
import { pathOfId } from './id-paths.ts'
import { allSections } from './sections.ts'
import { type Found, useSearchResults } from './use-search-results.ts'

interface Group {
  readonly value: string
  readonly items: readonly Item[]
}

interface Item extends Found {
  readonly icon: IconName
}

/** Finds anything by its name or id and goes there. An id that is pasted opens at once. */
export function Palette({ onClose }: { readonly onClose: () => void }) {
  const [text, setText] = useState('')
  const navigate = useNavigate()
  const groups = useGroups(useDeferredValue(text.trim()))
  const open = (path: string, isElsewhere = false): void => {
    onClose()
    if (isElsewhere) window.open(path.replace(/^\//, ''), '_blank')
    else void navigate({ to: path })
  }
  return (
    <Dialog.Root open onOpenChange={(isOpen) => !isOpen && onClose()}>
      <Dialog.Portal>
        <Dialog.Backdrop className="overlay" />
        <Dialog.Popup className="dialog palette" aria-label="Find">
          <Autocomplete.Root
            open
            inline
            mode="none"
            items={groups}
            value={text}
            onValueChange={(value) => setText(value)}
            autoHighlight="always"
            itemToStringValue={(item) => item.name}
          >
            <Autocomplete.Input
              aria-label="Name or id"
              placeholder="Name or id"
              onPaste={(event) => {
                const path = pathOfId(event.clipboardData.getData('text').trim())
                if (path === null) return
                event.preventDefault()
                open(path)
              }}
            />
            <Autocomplete.List className="pb-2 max-h-[50vh] overflow-y-auto">
              {(group: Group) => (
                <Autocomplete.Group key={group.value} items={group.items as Item[]}>
                  <Autocomplete.GroupLabel className="group">{group.value}</Autocomplete.GroupLabel>
                  <Autocomplete.Collection>
                    {(item: Item) => (
                      <Autocomplete.Item
                        key={`${item.kind}:${item.path}`}
                        value={item}
                        onClick={(event) => open(item.path, event.metaKey || event.ctrlKey)}
                      >
                        <Icon name={item.icon} />
                        <span className="text cut">{item.name}</span>
                        {item.hint !== null && <span className="hint cut">{item.hint}</span>}
                      </Autocomplete.Item>
                    )}
                  </Autocomplete.Collection>
                </Autocomplete.Group>
              )}
            </Autocomplete.List>
          </Autocomplete.Root>
          <footer>
            <span className="hint mr-auto">
              <span className="key">↑</span> <span className="key">↓</span> move{' '}
              <span className="key">↵</span> open <span className="key">esc</span> close
            </span>
            <span className="hint">Paste an id to open it</span>
          </footer>
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  )
}

const kindLooks: Readonly<Record<string, { readonly group: string; readonly icon: IconName }>> = {
  endpoint: { group: 'Endpoints', icon: 'endpoint' },
  route: { group: 'Routes', icon: 'route' },
  event_type: { group: 'Event types', icon: 'type' },
  event: { group: 'Events', icon: 'event' },
  delivery: { group: 'Deliveries', icon: 'delivery' },
  dead_letter: { group: 'Dead letters', icon: 'letter' },
  job: { group: 'Jobs', icon: 'job' },
  run: { group: 'Runs', icon: 'play' },
  queue: { group: 'Queues', icon: 'queue' },
  worker: { group: 'Workers', icon: 'worker' },
  schedule: { group: 'Schedules', icon: 'calendar' },
  operation: { group: 'Operations', icon: 'operation' },
}

function useGroups(text: string): readonly Group[] {
  const found = useSearchResults(text)
  const pages = allSections
    .filter(({ permission }) => permission === undefined || may(permission))
    .filter(({ name }) => name.toLowerCase().includes(text.toLowerCase()))
    .map(({ path, name, icon }) => ({ kind: 'page', path, name, icon, hint: null }))
  const groups = new Map<string, Item[]>()
  const idPath = pathOfId(text)
  if (idPath !== null)
    groups.set('Open', [{ kind: 'id', path: idPath, name: text, hint: null, icon: 'right' }])
  for (const one of found) {
    const { group, icon } = kindLooks[one.kind] ?? { group: 'More', icon: 'right' as const }
    groups.set(group, [...(groups.get(group) ?? []), { ...one, icon }])
  }
  if (pages.length > 0) groups.set('Pages', pages)
  // What is no name of ours may be one of theirs: an order, a request, a customer.
  if (text !== '' && idPath === null && may('read')) {
    const path = `/events?correlationId=${encodeURIComponent(text)}`
    groups.set('Events', [
      { kind: 'search', path, name: `With the correlation id ${text}`, hint: null, icon: 'search' },
    ])
  }
  return [...groups].map(([value, items]) => ({ value, items }))
}
