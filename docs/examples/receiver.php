<?php
// With PHP alone: WEBHOOK_SECRET=whsec_… php -S 127.0.0.1:3000 receiver.php

const TOLERANCE_SECONDS = 300;
const BODY_BYTES_MAX = 1048576;

/** True if the service has sent this request. $body is the received bytes. */
function is_genuine(string $secret, string $id, string $timestamp, string $signatures, string $body): bool
{
    if (!preg_match('/^[0-9]{1,12}$/D', $timestamp) || abs(time() - (int) $timestamp) > TOLERANCE_SECONDS) {
        return false;
    }
    $key = base64_decode(preg_replace('/^whsec_/', '', $secret));
    $expected = 'v1,' . base64_encode(hash_hmac('sha256', "$id.$timestamp.$body", $key, true));
    $genuine = false;
    foreach (explode(' ', $signatures) as $one) {
        $genuine = hash_equals($expected, $one) || $genuine;
    }
    return $genuine;
}

/** Stores an event once, under its id. The name of a finished file is whole, and a repetition writes the same. */
function store(string $id, string $body): void
{
    if (!preg_match('/^evt_[0-9a-z]+$/D', $id)) throw new RuntimeException('The id is no id of an event.');
    if (!is_dir('inbox')) mkdir('inbox', 0700);
    $file = tempnam('inbox', 'new');
    $handle = fopen($file, 'wb');
    if (fwrite($handle, $body) !== strlen($body) || !fflush($handle) || !fsync($handle) || !rename($file, "inbox/$id.json")) {
        throw new RuntimeException('The event was not stored.');
    }
}

$body = file_get_contents('php://input', false, null, 0, BODY_BYTES_MAX + 1);
$sent = fn (string $name): string => (string) ($_SERVER["HTTP_WEBHOOK_$name"] ?? '');
if (strlen($body) > BODY_BYTES_MAX) {
    http_response_code(413);
} elseif (!is_genuine(getenv('WEBHOOK_SECRET'), $sent('ID'), $sent('TIMESTAMP'), $sent('SIGNATURE'), $body)) {
    http_response_code(401);
} else {
    http_response_code(500); // Until it is stored. The service sends the event again.
    store($sent('ID'), $body);
    http_response_code(204);
}
