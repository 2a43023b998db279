// Writes src/api/operations.ts: one type per operation, from the server's committed OpenAPI document.
//
//   node scripts/generate-client.mjs           write it
//   node scripts/generate-client.mjs --check   fail when it is stale

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const web = join(dirname(fileURLToPath(import.meta.url)), '..');
const target = join(web, 'src/api/operations.ts');
const contract = join(web, '../crates/server/contracts/openapi.json');

const PATH = /^\/api\/tools\/([a-z][a-z0-9_]*)$/;

function read(path) {
  return JSON.parse(readFileSync(path, 'utf8'));
}

function operationsOf(document) {
  const found = new Map();
  for (const [path, item] of Object.entries(document.paths ?? {})) {
    const name = PATH.exec(path)?.[1];
    if (name !== undefined && item.post !== undefined) found.set(name, item.post);
  }
  return found;
}

function pascal(name) {
  return name.replace(/(^|[^A-Za-z0-9]+)([A-Za-z0-9])/g, (_, __, letter) => letter.toUpperCase());
}

function doc(text, indent) {
  if (!text) return '';
  const clean = text.trim().replaceAll('*/', '*\\/').split('\n');
  if (clean.length === 1) return `${indent}/** ${clean[0]} */\n`;
  return `${indent}/**\n${clean.map((line) => `${indent} * ${line}`.trimEnd()).join('\n')}\n${indent} */\n`;
}

/** Turns JSON Schema into TypeScript. `named` collects the `$defs` of a schema under `prefix`. */
class Writer {
  constructor() {
    this.named = new Map();
  }

  reference(pointer, prefix) {
    const shared = /^#\/components\/schemas\/(.+)$/.exec(pointer);
    if (shared) return pascal(shared[1]);
    const local = /^#\/(?:.*\/)?(?:\$defs|definitions)\/(.+)$/.exec(pointer);
    if (local) return prefix + pascal(local[1]);
    throw new Error(`a reference that this generator does not know: ${pointer}`);
  }

  collect(schema, prefix) {
    for (const [name, inner] of Object.entries(schema.$defs ?? {})) {
      const type = prefix + pascal(name);
      if (!this.named.has(type)) {
        this.named.set(type, '');
        this.named.set(type, this.declare(type, inner, prefix));
      }
    }
  }

  declare(type, schema, prefix) {
    return `${doc(schema.description, '')}export type ${type} = ${this.type(schema, prefix, '')};\n`;
  }

  type(schema, prefix, indent) {
    if (schema === true || schema === undefined) return 'unknown';
    if (schema === false) return 'never';
    this.collect(schema, prefix);
    if (schema.$ref) return this.reference(schema.$ref, prefix);
    if ('const' in schema) return JSON.stringify(schema.const);
    if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(' | ');
    const choices = schema.anyOf ?? schema.oneOf;
    if (choices) return [...new Set(choices.map((one) => this.type(one, prefix, indent)))].join(' | ');
    if (schema.allOf) return schema.allOf.map((one) => `(${this.type(one, prefix, indent)})`).join(' & ');
    const types = [schema.type].flat().filter((one) => one !== undefined);
    if (types.length === 0) return schema.properties ? this.object(schema, prefix, indent) : 'unknown';
    return types.map((one) => this.plain(one, schema, prefix, indent)).join(' | ');
  }

  plain(type, schema, prefix, indent) {
    switch (type) {
      case 'string':
      case 'boolean':
      case 'null':
        return type;
      case 'integer':
      case 'number':
        return 'number';
      case 'array': {
        const inner = this.type(schema.items, prefix, indent);
        return /^[\w."]+$/.test(inner) ? `${inner}[]` : `(${inner})[]`;
      }
      case 'object':
        return this.object(schema, prefix, indent);
      default:
        throw new Error(`a type that this generator does not know: ${type}`);
    }
  }

  object(schema, prefix, indent) {
    const members = Object.entries(schema.properties ?? {});
    if (members.length === 0) {
      const values = schema.additionalProperties;
      if (values === false) return 'Record<string, never>';
      return `Record<string, ${values && values !== true ? this.type(values, prefix, indent) : 'unknown'}>`;
    }
    const required = new Set(schema.required ?? []);
    const deeper = `${indent}  `;
    const lines = members.map(([name, inner]) => {
      const key = /^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name);
      const optional = required.has(name) ? '' : '?';
      return `${doc(inner.description, deeper)}${deeper}${key}${optional}: ${this.type(inner, prefix, deeper)};\n`;
    });
    return `{\n${lines.join('')}${indent}}`;
  }
}

function body(content) {
  return content?.content?.['application/json']?.schema ?? {};
}

function generate() {
  const document = read(contract);
  const writer = new Writer();
  const byName = ([a], [b]) => (a < b ? -1 : 1);
  const shared = Object.entries(document.components?.schemas ?? {})
    .sort(byName)
    .map(([name, schema]) => writer.declare(pascal(name), schema, pascal(name)));
  const entries = [...operationsOf(document)].sort(byName).map(([name, operation]) => {
    const input = writer.type(body(operation.requestBody), `${pascal(name)}Input`, '    ');
    const output = writer.type(body(operation.responses?.['200']), `${pascal(name)}Output`, '    ');
    return `${doc(operation.summary, '  ')}  ${name}: {\n    input: ${input};\n    output: ${output};\n  };\n`;
  });
  return [
    `// Generated by scripts/generate-client.mjs from ${relative(join(web, '..'), contract)}. Do not edit.\n`,
    ...shared,
    ...writer.named.values(),
    `/** Every operation with its input and output. */\nexport interface Operations {\n${entries.join('')}}\n`,
  ].join('\n');
}

const text = generate();
if (process.argv.includes('--check')) {
  const current = existsSync(target) ? readFileSync(target, 'utf8') : '';
  if (current !== text) {
    console.error('src/api/operations.ts is stale; run `npm run generate` and commit the result');
    process.exit(1);
  }
} else {
  writeFileSync(target, text);
  console.log(`wrote ${relative(process.cwd(), target)}`);
}
