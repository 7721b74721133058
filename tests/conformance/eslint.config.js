// Lints the schema and the documents of the client package: npm ci && npm run lint
// All rules of the recommended sets and of Relay are on; an exception has its reason beside it.
import { fileURLToPath } from 'node:url';
import graphql from '@graphql-eslint/eslint-plugin';

const { configs, parser } = graphql;
const fromRoot = (path) => fileURLToPath(new URL(`../../${path}`, import.meta.url));
const common = {
  plugins: { '@graphql-eslint': graphql },
  languageOptions: {
    parser,
    parserOptions: {
      graphQLConfig: {
        schema: fromRoot('schema.graphql'),
        documents: fromRoot('services/console/client/src/documents/*.graphql'),
      },
    },
  },
};

const recommended = configs['flat/schema-recommended'].rules;
const [severity, names] = recommended['@graphql-eslint/naming-convention'];
const { InputValueDefinition, ...otherNames } = names;

const exceptions = {
  // Only what `node(id:)` finds has an id. Seats, dice, previews and payloads are values of the object around them.
  '@graphql-eslint/strict-id-in-types': 'off',
  // Lists that the rules bound (seats, dice, legal moves, user errors) need no pages; those that grow are connections.
  // Entries of ledgers, replays, audits and leaderboards are found through what they belong to, not by an id.
  '@graphql-eslint/relay-edge-types': ['error', { withEdgeSuffix: true, shouldImplementNode: false, listTypeCanWrapOnlyEdgeType: false }],
  // GraphQL has no empty input object: `EmptyInput._` stands for none.
  '@graphql-eslint/naming-convention': [
    severity,
    { ...otherNames, allowLeadingUnderscore: true, allowTrailingUnderscore: true, 'InputValueDefinition[name.value!=_]': InputValueDefinition },
  ],
};

export default [
  {
    files: ['**/schema.graphql'],
    ...common,
    rules: { ...recommended, ...configs['flat/schema-relay'].rules, ...exceptions },
  },
  {
    files: ['**/documents/*.graphql'],
    ...common,
    rules: configs['flat/operations-recommended'].rules,
  },
];
