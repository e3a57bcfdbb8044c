import got from 'got';

const [method, url] = process.argv.slice(2);
await got(url, { method });
