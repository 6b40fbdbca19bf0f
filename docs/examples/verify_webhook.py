import base64, hashlib, hmac, time

TOLERANCE_SECONDS = 300


def is_genuine(secret: str, headers: dict[str, str], body: bytes) -> bool:
    """Names in `headers` are lower case; `body` is the received bytes."""
    try:
        sent, timestamp = headers["webhook-signature"], headers["webhook-timestamp"]
        if abs(time.time() - int(timestamp)) > TOLERANCE_SECONDS:
            return False
        signed = f"{headers['webhook-id']}.{timestamp}.".encode() + body
    except (KeyError, ValueError):
        return False
    key = base64.b64decode(secret.removeprefix("whsec_"))
    expected = b"v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest())
    return any(hmac.compare_digest(one.encode(), expected) for one in sent.split(" "))
