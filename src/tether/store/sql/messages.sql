-- name: post
-- Write one message; to nobody in particular means to all.
INSERT INTO messages (
    id, at, type, priority, sender, sender_session, to_session, to_name, source, task, body,
    expires_at
)
VALUES (
    :id, tether_now(0), :type, :priority, :sender, :sender_session, :to_session, :to_name,
    :source, :task, :body,
    CASE WHEN CAST(:ttl_ms AS BIGINT) IS NULL THEN NULL ELSE tether_now(CAST(:ttl_ms AS BIGINT)) END
)
RETURNING *;

-- name: unread
-- What came after a message and a session has not read; who joins later gets no old broadcast.
SELECT messages.*,
    (SELECT min(delivered_at) FROM receipts WHERE receipts.message_id = messages.id
        AND (receipts.session_id = :session_id OR messages.to_name IS NOT NULL)) AS delivered_at,
    NULL AS read_at
FROM messages
WHERE id > :after
  AND (to_session = :session_id
       OR to_name = :agent_name
       OR (to_session IS NULL AND to_name IS NULL AND id > :inbox_from
           AND (sender_session IS NULL OR sender_session <> :session_id)))
  AND (expires_at IS NULL OR expires_at > (SELECT tether_now(0)))
  AND NOT EXISTS (
      SELECT 1 FROM receipts
      WHERE receipts.message_id = messages.id AND receipts.read_at IS NOT NULL
        AND (receipts.session_id = :session_id OR messages.to_name IS NOT NULL))
ORDER BY id LIMIT :limit;

-- name: received
-- Everything that was sent to a session, read and expired ones too, newest first.
SELECT messages.*,
    (SELECT min(delivered_at) FROM receipts WHERE receipts.message_id = messages.id
        AND (receipts.session_id = :session_id OR messages.to_name IS NOT NULL)) AS delivered_at,
    (SELECT min(read_at) FROM receipts WHERE receipts.message_id = messages.id
        AND (receipts.session_id = :session_id OR messages.to_name IS NOT NULL)) AS read_at
FROM messages
WHERE to_session = :session_id
   OR to_name = :agent_name
   OR (to_session IS NULL AND to_name IS NULL AND id > :inbox_from
       AND (sender_session IS NULL OR sender_session <> :session_id))
ORDER BY id DESC LIMIT :limit;

-- name: sent
-- What a session sent, and the first that became of it, newest first.
SELECT messages.*,
    (SELECT min(delivered_at) FROM receipts WHERE receipts.message_id = messages.id) AS delivered_at,
    (SELECT min(read_at) FROM receipts WHERE receipts.message_id = messages.id) AS read_at
FROM messages WHERE sender_session = :session_id ORDER BY id DESC LIMIT :limit;

-- name: deliver
-- A message was put before a session.
INSERT INTO receipts (message_id, session_id, delivered_at)
VALUES (:message_id, :session_id, tether_now(0))
ON CONFLICT DO NOTHING;

-- name: read
-- A session read a message that was put before it.
UPDATE receipts SET read_at = tether_now(0)
WHERE message_id = :message_id AND session_id = :session_id AND read_at IS NULL;
