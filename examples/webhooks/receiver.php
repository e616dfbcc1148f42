<?php
// WEBHOOK_SECRET=whsec_... php -S 127.0.0.1:8080 receiver.php
const TOLERANCE_SECONDS = 300;

function isAuthentic(string $secret, array $server, string $body): bool
{
    $id = $server['HTTP_WEBHOOK_ID'] ?? '';
    $timestamp = $server['HTTP_WEBHOOK_TIMESTAMP'] ?? '';
    $signatures = $server['HTTP_WEBHOOK_SIGNATURE'] ?? '';
    if ($id === '' || !ctype_digit($timestamp) || $signatures === '') {
        return false;
    }
    if (abs(time() - (int) $timestamp) > TOLERANCE_SECONDS) {
        return false;
    }
    $key = base64_decode(preg_replace('/^whsec_/', '', $secret), true);
    if ($key === false) {
        return false;
    }
    $expected = base64_encode(hash_hmac('sha256', "$id.$timestamp.$body", $key, true));
    foreach (explode(' ', $signatures) as $signature) {
        [$version, $given] = array_pad(explode(',', $signature, 2), 2, '');
        if ($version === 'v1' && hash_equals($expected, $given)) {
            return true;
        }
    }
    return false;
}

$body = file_get_contents('php://input'); // the raw bytes
if (!isAuthentic(getenv('WEBHOOK_SECRET'), $_SERVER, $body)) {
    http_response_code(400);
    exit('bad signature');
}
error_log('received ' . $_SERVER['HTTP_WEBHOOK_ID'] . ' ' . $body);
http_response_code(204);
