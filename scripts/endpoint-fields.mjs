const prefix = '#/components/schemas/'

/**
 * The settings of an endpoint as one flat list of form fields for each transport, read from the OpenAPI document, so that the dashboard's forms know
 * every field, its limits and its meaning without a schema library.
 */
export function endpointFields(document) {
  const { schemas } = document.components
  const { mapping } = schemas.EndpointInput.discriminator
  const [first] = Object.values(mapping)
  const common = schemaAt(schemas, { $ref: first })
  return {
    common: Object.entries(common.properties)
      .filter(([name]) => name !== 'config' && name !== 'transport')
      .flatMap(([name, schema]) => fieldsOf(schemas, name, schema, common.required?.includes(name) ?? false)),
    transports: Object.fromEntries(
      Object.entries(mapping).map(([transport, reference]) => {
        const { properties } = schemaAt(schemas, { $ref: reference })
        return [transport, partsOf(schemas, 'config', schemaAt(schemas, properties.config))]
      }),
    ),
  }
}

/** The site-wide settings: each may be null, which restores its default and isn't offered in a form. */
export function settingFields(document) {
  const { schemas } = document.components
  return Object.entries(schemas.SettingChanges.properties)
    .filter(([name]) => name !== 'reason')
    .flatMap(([name, { anyOf, description }]) => {
      const schema = schemaAt(
        schemas,
        anyOf.find(({ type }) => type !== 'null'),
      )
      return fieldsOf(schemas, name, { ...schema, description }, schema.type !== 'object')
    })
}

/** The settings of an alert rule; its name is in the path of the call. */
export function alertRuleFields(document) {
  const { schemas } = document.components
  const { properties, required } = schemas.AlertRuleSettings
  return Object.entries(properties)
    .filter(([name]) => name !== 'reason')
    .flatMap(([name, schema]) => fieldsOf(schemas, name, schema, required.includes(name)))
}

function partsOf(schemas, path, { properties, required = [] }, when) {
  return Object.entries(properties).flatMap(([name, schema]) =>
    fieldsOf(schemas, `${path}.${name}`, schema, required.includes(name), when),
  )
}

function fieldsOf(schemas, path, given, isRequired, when) {
  const schema = schemaAt(schemas, given)
  const { description = '' } = schema
  const field = { path, description, ...(isRequired && { isRequired }), ...(when !== undefined && { when }) }
  if (isSecret(given)) return [{ ...field, kind: 'text', isSecret: true }]
  if (schema.anyOf !== undefined) {
    const inner = schemaAt(
      schemas,
      schema.anyOf.find(({ type }) => type !== 'null'),
    )
    if (inner.type !== 'object') return [{ ...field, isNullable: true, ...leafOf(inner) }]
    const isThere = { path, is: true }
    return [{ ...field, kind: 'part' }, ...partsOf(schemas, path, inner, isThere)]
  }
  if (schema.discriminator !== undefined) {
    const { propertyName, mapping } = schema.discriminator
    const choice = `${path}.${propertyName}`
    return [
      { ...field, path: choice, kind: 'choice', choices: Object.keys(mapping) },
      ...Object.entries(mapping).flatMap(([value, reference]) => {
        const { [propertyName]: _, ...properties } = schemaAt(schemas, { $ref: reference }).properties
        const chosen = { ...schemaAt(schemas, { $ref: reference }), properties }
        return partsOf(schemas, path, chosen, { path: choice, is: value })
      }),
    ]
  }
  if (schema.type === 'object' && schema.properties !== undefined) {
    return partsOf(schemas, path, schema, when)
  }
  return [{ ...field, ...leafOf(schema, schemas) }]
}

function leafOf(schema) {
  const { type, minimum, maximum, minLength, maxLength, pattern, minItems, maxItems } = schema
  const bounds = defined({ minimum, maximum, minLength, maxLength, pattern, minItems, maxItems })
  if (schema.enum !== undefined) return { kind: 'choice', choices: schema.enum }
  if (type === 'boolean') return { kind: 'flag' }
  if (type === 'integer' || type === 'number') return { kind: type, ...bounds }
  if (type === 'array') return { kind: 'list', item: leafOf(schema.items), ...bounds }
  if (type === 'object' && isSecret(schema.additionalProperties)) return { kind: 'headers' }
  if (type === 'object') return { kind: 'map', item: leafOf(schema.additionalProperties) }
  return { kind: 'text', ...bounds }
}

function isSecret(schema) {
  return schema?.$ref === `${prefix}SecretInput`
}

function schemaAt(schemas, schema) {
  const { $ref: reference, ...own } = schema
  return reference === undefined ? schema : { ...schemas[reference.slice(prefix.length)], ...own }
}

function defined(object) {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined))
}
