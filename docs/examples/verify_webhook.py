import base64, hashlib, hmac, re, time

TOLERANCE_SECONDS = 300


def is_genuine(secret: str, headers: dict[str, str], body: bytes) -> bool:
    """Names in `headers` are lower case; `body` is the received bytes. Anyone can send anything, so it never raises for it."""
    names = ("webhook-id", "webhook-timestamp", "webhook-signature")
    event_id, timestamp, signatures = (str(headers.get(name, "")) for name in names)
    if not re.fullmatch("[0-9]{1,12}", timestamp) or abs(time.time() - int(timestamp)) > TOLERANCE_SECONDS:
        return False
    key = base64.b64decode(secret.removeprefix("whsec_"))
    signed = f"{event_id}.{timestamp}.".encode(errors="replace") + body
    expected = b"v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest())
    return any(hmac.compare_digest(one.encode(errors="replace"), expected) for one in signatures.split(" "))
