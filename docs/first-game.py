#!/usr/bin/env python3
"""A whole game of Farkle in Python, with the standard library alone: docs/first-game.py URL

The URL is that of the GraphQL endpoint: http://127.0.0.1:8080/graphql. Each command has an id, so
that a retry is safe (docs/api.md), and each turn takes the best selection and banks it."""

import json
import sys
import urllib.request
import uuid

URL = sys.argv[1] if len(sys.argv) > 1 else "http://127.0.0.1:8080/graphql"
TABLE = """{ userErrors { message } events { summary }
             game { id stage bestSelection { slots canBank } outcome { winners { player { name } } scores } } }"""
headers = {"content-type": "application/json", "croupier-client": "first-game/1"}


def ask(query, **variables):
    body = json.dumps({"query": query, "variables": variables}).encode()
    with urllib.request.urlopen(urllib.request.Request(URL, body, headers)) as response:
        answer = json.load(response)
    return answer["data"] if "errors" not in answer else sys.exit(answer["errors"][0]["message"])


def command(name, kind, **fields):
    """Sends one command and shows what happened; gives the game after it."""
    fields["command"] = {"id": str(uuid.uuid4())}
    done = ask(f"mutation($input: {kind}!) {{ {name}(input: $input) {TABLE} }}", input=fields)[name]
    print(*(event["summary"] for event in done["events"] if event["summary"]), sep="\n")
    return done["game"] if not done["userErrors"] else sys.exit(done["userErrors"][0]["message"])


guest = ask('mutation { signInAsGuest(input: { name: "Ann" }) { accessToken } }')["signInAsGuest"]
headers["authorization"] = f"Bearer {guest['accessToken']}"
game = command("createGame", "CreateGameInput", rules={"farkle": {"target": 2000}})
command("chooseSeed", "ChooseSeedInput", gameId=game["id"], seed="my number")
game = command("startGame", "GameCommandInput", gameId=game["id"])
while game["stage"] == "PLAYING":
    best = game["bestSelection"]
    move = {"bank": {"saveSlots": best["slots"]}} if best else {"roll": {}}
    game = command("play", "PlayInput", gameId=game["id"], move=move)
winner = game["outcome"]["winners"][0]["player"]["name"]
print(f"{winner} wins with {game['outcome']['scores'][0]} points")
