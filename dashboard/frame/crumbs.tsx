import { Link, useLocation } from '@tanstack/react-router'
import { Icon } from '../parts/icon.tsx'
import { allSections } from './sections.ts'

/** The section, and what of it is looked at. */
export function Crumbs() {
  const { pathname } = useLocation()
  const [first = '', ...rest] = pathname.split('/').filter((part) => part !== '')
  const section = allSections.find(({ path }) => path === `/${first}`)
  const name = section?.name ?? 'Not found'
  // A name can't begin with "+": it is the page of a new one.
  const thing = rest.map((part) => (part === '+new' ? 'New' : decodeURIComponent(part))).join('/')
  if (thing === '') {
    return (
      <ol>
        <li aria-current="page">{name}</li>
      </ol>
    )
  }
  return (
    <ol>
      <li>{section === undefined ? name : <Link to={section.path}>{name}</Link>}</li>
      <li aria-hidden="true">
        <Icon name="right" />
      </li>
      <li aria-current="page" className="cut" dir="auto">
        {thing}
      </li>
    </ol>
  )
}
