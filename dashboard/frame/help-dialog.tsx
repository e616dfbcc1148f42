import { Modal } from '../parts/modal.tsx'
import { setPreference, usePreferences } from './preferences.ts'
import { allSections } from './sections.ts'
import { isApple } from './top-bar.tsx'
import { ColourChoice } from './view-choices.tsx'

const command = isApple ? '⌘' : 'Ctrl '

const keys: readonly (readonly [string, string])[] = [
  [`${command}K`, 'find anything by name or id'],
  ['/', 'filter of this page'],
  ['f', 'add a filter'],
  ['j k', 'next, previous row'],
  ['↵', 'open the row'],
  ['x', 'select the row; with ⇧, all up to it'],
  ['a', 'select the page'],
  ['esc', 'clear the selection'],
  ['r', 'retry or redrive (opens a dialog)'],
  ['e p t', 'edit; pause or resume; test or trigger'],
  ['[ ]', 'previous, next of the list that you came from'],
  ['.', 'pause or resume live updates'],
  ['u', 'update now'],
  ['?', 'this table'],
]

export function HelpDialog({ onClose }: { readonly onClose: () => void }) {
  const { hasSingleKeys } = usePreferences()
  return (
    <Modal
      title="Keys and settings"
      onClose={onClose}
      footer={
        <button type="button" className="button" onClick={onClose}>
          Close
        </button>
      }
    >
      <div className="flex flex-wrap gap-4">
        <label className="check">
          <input
            type="checkbox"
            checked={hasSingleKeys}
            onChange={({ target }) => setPreference({ hasSingleKeys: target.checked })}
          />
          Single keys act
        </label>
        <ColourChoice />
      </div>
      <dl className="facts">
        {keys.map(([key, what]) => (
          <div key={key} className="contents">
            <dt>
              <span className="key">{key}</span>
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
        {allSections
          .filter(({ key }) => key !== undefined)
          .map(({ key, name }) => (
            <div key={key} className="contents">
              <dt>
                <span className="key">g</span> <span className="key">{key}</span>
              </dt>
              <dd>{name}</dd>
            </div>
          ))}
      </dl>
    </Modal>
  )
}
