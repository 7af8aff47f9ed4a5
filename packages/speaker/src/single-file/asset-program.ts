import { createRequire } from 'node:module';
import { getAsset } from 'node:sea';
import { compileFunction } from 'node:vm';

/** Runs a CommonJS program that scripts/single-file.ts put into the executable, and returns what it exports. */
export function assetProgram(name: string): unknown {
  const module: { exports: unknown } = { exports: {} };
  const run = compileFunction(getAsset(name, 'utf8'), ['module', 'exports', 'require'], { filename: name });
  run(module, module.exports, createRequire('file:///bgp-lb'));
  return module.exports;
}
