-- The preset "agent" gets another permission. Members who have all that it was before the first one get it too.
UPDATE `members`
SET `permissions` = json_insert(`permissions`, '$[#]', 'labels:write')
WHERE NOT EXISTS (SELECT 1 FROM json_each(`members`.`permissions`) WHERE `value` = 'labels:write')
	AND (
		SELECT count(DISTINCT `value`)
		FROM json_each(`members`.`permissions`)
		WHERE `value` IN (
			'chats:read', 'chats:write', 'messages:read', 'messages:send', 'notes:read',
			'notes:write', 'events:read', 'members:read', 'templates:read', 'channels:read'
		)
	) = 10;
