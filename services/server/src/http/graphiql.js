// Starts GraphiQL with a first query, and speaks graphql-transport-ws for subscriptions.
'use strict';

const FIRST = `# Welcome. Run the first mutation, and put the token into the headers below:
#   { "authorization": "Bearer TOKEN" }
# Then play: open a table, start it, roll.

mutation SignIn {
  signInAsGuest(name: "Ann") { accessToken player { id name } }
}

mutation Open {
  createGame(game: "farkle") { game { id stage } errors { code message } }
}

# mutation Start { startGame(gameId: "game:…") { game { toMove { number } } errors { message } } }
# mutation Roll  { roll(gameId: "game:…") { events { text } game { bestSelection { slots points } } errors { message } } }
# subscription Watch { gameEvents(gameId: "game:…") { version type text } }
`;

// A subscription: one socket, one operation.
function subscribe(request, headers) {
  return {
    subscribe(observer) {
      const address = location.origin.replace(/^http/, 'ws') + '/graphql';
      const socket = new WebSocket(address, 'graphql-transport-ws');
      const say = (message) => socket.send(JSON.stringify(message));
      socket.onopen = () => say({ type: 'connection_init', payload: headers || {} });
      socket.onmessage = ({ data }) => {
        const { type, payload } = JSON.parse(data);
        if (type === 'connection_ack') say({ id: '1', type: 'subscribe', payload: request });
        else if (type === 'ping') say({ type: 'pong' });
        else if (type === 'next') observer.next(payload);
        else if (type === 'error') observer.error(payload);
        else if (type === 'complete') observer.complete();
      };
      socket.onclose = ({ code, reason }) =>
        code === 1000 ? observer.complete() : observer.error(new Error(`${code}: ${reason}`));
      return { unsubscribe: () => socket.close(1000) };
    },
  };
}

async function fetcher(request, options) {
  const headers = (options && options.headers) || {};
  const operation = options && options.documentAST && options.documentAST.definitions.find(
    (part) => part.kind === 'OperationDefinition' &&
      (!request.operationName || (part.name && part.name.value === request.operationName)));
  if (operation && operation.operation === 'subscription') return subscribe(request, headers);
  const answer = await fetch('/graphql', {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json', ...headers },
    body: JSON.stringify(request),
  });
  return answer.json();
}

ReactDOM.createRoot(document.getElementById('graphiql')).render(
  React.createElement(GraphiQL, { fetcher, defaultQuery: FIRST, shouldPersistHeaders: true }));
