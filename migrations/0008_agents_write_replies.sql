-- The preset "agent" gets a permission. Members who have all that it was get it too.
UPDATE `members`
SET `permissions` = json_insert(`permissions`, '$[#]', 'replies:write')
WHERE NOT EXISTS (SELECT 1 FROM json_each(`members`.`permissions`) WHERE `value` = 'replies:write')
	AND (
		SELECT count(DISTINCT `value`)
		FROM json_each(`members`.`permissions`)
		WHERE `value` IN (
			'chats:read', 'chats:write', 'messages:read', 'messages:send', 'notes:read',
			'notes:write', 'events:read', 'members:read', 'templates:read', 'channels:read'
		)
	) = 10;
