// The audit of the GraphQL-over-HTTP specification: all checks must pass, including recommendations.
import { auditServer } from 'graphql-http';

const [url] = process.argv.slice(2);
const results = await auditServer({ url, fetchFn: fetch });
const missed = results.filter((result) => result.status !== 'ok');
for (const { id, name, status, reason } of missed) {
  console.log(`${status} ${id} ${name}: ${reason}`);
}
console.log(`GraphQL over HTTP: ${results.length - missed.length} of ${results.length} checks pass`);
process.exit(missed.length === 0 && results.length >= 61 ? 0 : 1);
