// The npm package in Node; `cargo test --test wasm -- --ignored` says where things are and compares hashes.
import assert from 'node:assert/strict';
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';

const { TESSERA_PACKAGE, TESSERA_FIXTURES, TESSERA_OUT } = process.env;
const tessera = await import(pathToFileURL(join(TESSERA_PACKAGE, 'index.js')));
const streams = join(TESSERA_FIXTURES, 'conformance');
const stream = (name) => readFileSync(join(streams, name));
const tiled = readFileSync(join(TESSERA_OUT, 'tiled.tsr'));

/** Waves in colour. */
function picture(width, height) {
  const data = new Uint8ClampedArray(width * height * 4);
  for (let at = 0; at < width * height; at += 1) {
    const [x, y] = [at % width, Math.floor(at / width)];
    data.set([128 + 100 * Math.sin(x / 9), 128 + 90 * Math.cos(y / 7), (x * y) % 256, 255], 4 * at);
  }
  return { width, height, data };
}

/** A stream that arrives in pieces. */
function arriving(bytes, piece) {
  let at = 0;
  return new ReadableStream({
    pull(controller) {
      if (at >= bytes.length) return controller.close();
      controller.enqueue(new Uint8Array(bytes.subarray(at, (at += piece))));
    },
  });
}

/** A stream that arrives slowly. */
function slowly(bytes, piece) {
  let at = 0;
  return new ReadableStream({
    async pull(controller) {
      await new Promise((resolve) => setTimeout(resolve, 20));
      controller.enqueue(new Uint8Array(bytes.subarray(at, (at += piece))));
      if (at >= bytes.length) controller.close();
    },
  });
}

const code = (expected) => (error) => error instanceof tessera.TesseraError && error.code === expected;

test('conformance streams are written for their hashes to be compared', async () => {
  for (const name of readdirSync(streams).filter((name) => name.endsWith('.tsr'))) {
    const { width, height, channels, data } = await tessera.decodeSamples(stream(name));
    assert.equal(data.length, width * height * channels, name);
    writeFileSync(join(TESSERA_OUT, name), new Uint8Array(data.buffer));
  }
});

test('tiles make the picture that native decoding makes, in whatever pieces they come', async () => {
  const expected = readFileSync(join(TESSERA_OUT, 'tiled.rgb'));
  for (const source of [tiled, arriving(tiled, 1), arriving(tiled, 777), new Response(tiled), new Blob([tiled])]) {
    const tiles = [];
    const { data } = await tessera.decode(source, { onTile: (tile) => tiles.push(tile) });
    assert.deepEqual(data.filter((_, at) => at % 4 !== 3), new Uint8ClampedArray(expected));
    assert.equal(tiles.length, 20);
  }
});

test('regions and smaller sizes', async () => {
  const whole = await tessera.decode(tiled);
  const region = { x: 60, y: 10, width: 100, height: 80 };
  const part = await tessera.decode(tiled, { region });
  for (let y = 0; y < region.height; y += 1) {
    const start = ((y + region.y) * whole.width + region.x) * 4;
    const row = part.data.subarray(y * region.width * 4, (y + 1) * region.width * 4);
    assert.deepEqual(row, whole.data.subarray(start, start + region.width * 4));
  }
  const small = await tessera.decode(tiled, { maxSide: 75 });
  assert.deepEqual([small.width, small.height], [75, 50]);
  const both = await tessera.decode(tiled, { region, maxSide: 50 });
  assert.deepEqual([both.width, both.height], [50, 40]);
  await assert.rejects(tessera.decode(tiled, { region: { ...region, x: 290 } }), code('parameter'));
  await assert.rejects(tessera.decode(tiled, { region: { ...region, width: 0.5 } }), code('parameter'));
});

test('deep samples keep their depth, and are rounded for a canvas', async () => {
  const { depth, data, channels } = await tessera.decodeSamples(stream('bits-16.tsr'));
  assert.equal(depth, 16);
  const shown = await tessera.decode(stream('bits-16.tsr'));
  assert.equal(shown.data[0], Math.round((data[0] * 255) / 65535));
  assert.equal(shown.data.length / 4, data.length / channels);
});

test('a preview comes first, then rows of the tile that arrives, then all of it', async () => {
  const file = readFileSync(join(TESSERA_OUT, 'previewed.tsr'));
  assert.equal((await tessera.describe(file)).preview, true);
  const heard = [];
  const hear = (what) => ({ image }) => heard.push([what, image.width, image.height]);
  const image = await tessera.decode(slowly(file, Math.ceil(file.length / 20)), {
    onPreview: (small) => heard.push(['preview', small.width, small.height]),
    onPart: hear('part'),
    onTile: hear('tile'),
  });
  assert.deepEqual(image, await tessera.decode(file));
  const [first, ...rest] = heard;
  assert.ok(first[0] === 'preview' && first[1] <= 256 && first[1] === first[2], heard);
  assert.deepEqual(rest.pop(), ['tile', 300, 300]);
  assert.ok(rest.length > 0 && rest.every(([what, width, height]) => what === 'part' && width === 300 && (height % 64 === 0 || height === 300)), heard);
  const own = await tessera.encode(image, { effort: 1, preview: true });
  assert.equal((await tessera.describe(own)).preview, true);
  assert.equal((await tessera.describe(await tessera.encode(image, { effort: 1 }))).preview, false);
});

test('colours of a profile become those of sRGB, whole, smaller or in part', async () => {
  const wide = readFileSync(join(TESSERA_OUT, 'wide.tsr'));
  const { data } = await tessera.decode(wide);
  assert.ok(data[0] > 205 && data[1] < 100 && data[2] < 45 && data[3] === 255, data.subarray(0, 4));
  const options = [{}, { maxSide: 10 }, { region: { x: 50, y: 50, width: 40, height: 40 } }];
  for (const image of await Promise.all(options.map((option) => tessera.decode(wide, option)))) {
    assert.ok(image.data.every((value, at) => value === data[at % 4]));
  }
  assert.deepEqual([...(await tessera.decodeSamples(wide)).data.subarray(0, 3)], [200, 100, 50]);
  assert.deepEqual([(await tessera.describe(wide)).profile, (await tessera.describe(tiled)).profile], [true, false]);
  const srgb = await tessera.decode(readFileSync(join(TESSERA_OUT, 'srgb.tsr')));
  assert.deepEqual([...srgb.data.subarray(0, 4)], [200, 100, 50, 255]);
  await tessera.init({ colour: pathToFileURL(join(TESSERA_PACKAGE, 'nowhere.wasm')) });
  await assert.rejects(tessera.decode(wide), /nowhere/);
  await tessera.init();
});

test('what is encoded decodes, better and larger with more quality', async () => {
  const original = picture(150, 110);
  const sizes = [];
  const scores = [];
  for (const quality of [30, 90]) {
    const shares = [];
    const file = await tessera.encode(original, { quality, effort: 2, onProgress: (share) => shares.push(share) });
    assert.equal(shares.at(-1), 1);
    const info = await tessera.describe(file);
    assert.deepEqual([info.width, info.height, info.channels, info.depth], [150, 110, 3, 8]);
    sizes.push(file.length);
    scores.push(await tessera.ssimulacra2(original, await tessera.decode(file)));
  }
  assert.ok(sizes[0] < sizes[1] && scores[0] < scores[1], `${sizes} ${scores}`);
  const fitted = await tessera.encode(original, { size: 2000, effort: 1 });
  assert.ok(fitted.length <= 2000 && fitted.length > 1000, `${fitted.length}`);
});

test('gray and alpha are found', async () => {
  const gray = picture(40, 30);
  for (let at = 0; at < gray.data.length; at += 4) gray.data.fill(gray.data[at], at, at + 3);
  assert.equal((await tessera.describe(await tessera.encode(gray))).channels, 1);
  gray.data[3] = 100;
  assert.equal((await tessera.describe(await tessera.encode(gray))).channels, 2);
});

test('a learned dictionary is an argument', async () => {
  const dictionary = readFileSync(join(streams, 'references/references.tsd'));
  const file = readFileSync(join(streams, 'references/same.tsr'));
  await assert.rejects(tessera.decode(file), code('dictionary'));
  const image = await tessera.decode(file, { dictionaries: [dictionary] });
  assert.ok(image.width > 0);
  const own = await tessera.encode(image, { dictionary, effort: 1 });
  assert.equal((await tessera.describe(own)).dictionary, await tessera.dictionaryId(dictionary));
  assert.equal((await tessera.decode(own, { dictionaries: [dictionary] })).width, image.width);
  await assert.rejects(tessera.dictionaryId(new Uint8Array([1, 2, 3])), code('dictionary'));
});

test('pictures of conforming packs are written for their hashes to be compared, others refused', async () => {
  const packs = join(streams, 'packs');
  const columns = (name) => readFileSync(join(packs, name), 'utf8').trim().split('\n').map((line) => line.split('\t'));
  const refused = new Set(columns('refused.tsv').map(([file]) => file));
  for (const file of readdirSync(packs).filter((name) => name.endsWith('.tsp'))) {
    const bytes = readFileSync(join(packs, file));
    for (const source of [bytes, new Blob([bytes])]) {
      const all = async () => {
        const pack = await tessera.openPack(source);
        for (const name of pack.names) {
          const { data } = await pack.decodeSamples(name);
          writeFileSync(join(TESSERA_OUT, `${file}-${name.replaceAll('/', '-')}`), new Uint8Array(data.buffer));
          const { width } = await pack.decode(name, { maxSide: 8 });
          assert.ok(width > 0 && pack.bytes(name) > 0);
        }
        await assert.rejects(pack.decode('nobody'), code('parameter'));
        await pack.close();
      };
      if (refused.has(file)) await assert.rejects(all(), tessera.TesseraError, file);
      else await all();
    }
  }
  await assert.rejects(tessera.openPack(tiled), code('format'));
});

test('pictures of a pack share a profile, of which no more is read than of the pictures', async () => {
  const file = readFileSync(join(TESSERA_OUT, 'wide.tsr'));
  const { data } = await tessera.decode(file);
  const bytes = readFileSync(join(TESSERA_OUT, 'shared.tsp'));
  for (const source of [bytes, new Blob([bytes])]) {
    const pack = await tessera.openPack(source);
    for (const name of ['c', 'a', 'b']) {
      assert.deepEqual((await pack.decode(name)).data, data);
      assert.deepEqual(Buffer.from(await pack.file(name)), file);
    }
    await pack.close();
  }
});

test('bad files are refused with a reason, and good ones decode afterwards', async () => {
  const damaged = new Uint8Array(tiled);
  damaged[tiled.length - 20] ^= 1;
  await assert.rejects(tessera.decode(damaged), /tile 19 .*checksum/);
  for (let cut = 0; cut < tiled.length; cut += 97) {
    await assert.rejects(tessera.decode(tiled.subarray(0, cut)), code('format'), `cut to ${cut}`);
    await assert.rejects(tessera.decode(arriving(tiled.subarray(0, cut), 500)), code('format'), `cut to ${cut}`);
  }
  await assert.rejects(tessera.decode(Buffer.concat([tiled, Buffer.from([0])])), /after the last tile/);
  await assert.rejects(tessera.decode(Buffer.from('hello')), code('format'));
  await assert.rejects(tessera.decode(42), code('parameter'));
  // A header that claims 65535 x 65535 pixels.
  await assert.rejects(tessera.decode(Buffer.from('d4530101ffff03ffff0330' + '00'.repeat(60), 'hex')), tessera.TesseraError);
  assert.equal((await tessera.decode(tiled)).width, 300);
});

test('settings out of range are refused', async () => {
  const image = picture(10, 10);
  for (const options of [{ quality: 101 }, { quality: 'high' }, { effort: 0 }, { size: 0 }]) {
    await assert.rejects(tessera.encode(image, options), code('parameter'));
  }
  await assert.rejects(tessera.encode({ ...image, width: 11 }), code('parameter'));
  await assert.rejects(tessera.encode({ ...image, colorSpace: 'display-p3' }), code('parameter'));
  await assert.rejects(tessera.ssimulacra2(image, picture(11, 10)), code('parameter'));
  await assert.rejects(tessera.decode(tiled, { signal: AbortSignal.abort() }), { name: 'AbortError' });
});

test('another file is not taken for the built-in dictionary', async () => {
  const other = readFileSync(join(streams, 'references/references.tsd'));
  await tessera.init({ dictionary: other });
  await assert.rejects(tessera.decode(tiled), code('dictionary'));
  await tessera.init();
  assert.equal((await tessera.decode(tiled)).width, 300);
});
