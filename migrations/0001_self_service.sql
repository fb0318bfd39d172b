CREATE TABLE `used_codes` (
	`hash` text PRIMARY KEY NOT NULL,
	`until` integer NOT NULL
);
--> statement-breakpoint
ALTER TABLE `api_keys` ADD `quota_peak` integer;--> statement-breakpoint
ALTER TABLE `api_keys` ADD `quota_peak_until` integer;--> statement-breakpoint
ALTER TABLE `api_keys` ADD `created_by` text DEFAULT 'operator' NOT NULL;--> statement-breakpoint
ALTER TABLE `channels` ADD `retention_days` integer;--> statement-breakpoint
ALTER TABLE `members` ADD `permissions` text DEFAULT '["chats:read","chats:write","messages:read","messages:send"]' NOT NULL;--> statement-breakpoint
ALTER TABLE `members` ADD `sessions_since` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `members` ADD `sign_in_hash` text;--> statement-breakpoint
ALTER TABLE `members` ADD `sign_in_until` integer;--> statement-breakpoint
ALTER TABLE `organizations` ADD `self_service` text;