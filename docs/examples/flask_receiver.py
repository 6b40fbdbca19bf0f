import os

from flask import Flask, request

from inbox import store
from verify_webhook import is_genuine

SECRET = os.environ["WEBHOOK_SECRET"]
app = Flask(__name__)
app.config["MAX_CONTENT_LENGTH"] = 1_048_576


@app.post("/webhooks")
def receive():
    body = request.get_data()  # Not get_json(): the signature is over the bytes.
    headers = {name.lower(): value for name, value in request.headers.items()}
    if not is_genuine(SECRET, headers, body):
        return "", 401
    store(body)  # If it raises, the response is 500, and the service sends the event again.
    return "", 204


if __name__ == "__main__":
    app.run(port=int(os.environ.get("PORT", "3000")))
