CREATE TABLE `api_keys` (
	`id` text PRIMARY KEY NOT NULL,
	`organization_id` text NOT NULL,
	`name` text NOT NULL,
	`hash` text NOT NULL,
	`previous_hash` text,
	`previous_until` integer,
	`permissions` text NOT NULL,
	`ip_allowlist` text DEFAULT '[]' NOT NULL,
	`rate_limit` integer NOT NULL,
	`window_seconds` integer NOT NULL,
	`monthly_quota` integer,
	`quota_peak` integer,
	`quota_peak_until` integer,
	`expires_at` integer,
	`revoked_at` integer,
	`created_by` text DEFAULT 'operator' NOT NULL,
	`set_by` text,
	`secret_by` text,
	`previous_by` text,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `api_keys_by_organization` ON `api_keys` (`organization_id`,`created_at`,`id`);--> statement-breakpoint
CREATE TABLE `channels` (
	`id` text PRIMARY KEY NOT NULL,
	`organization_id` text NOT NULL,
	`kind` text NOT NULL,
	`name` text NOT NULL,
	`settings` text NOT NULL,
	`limits` text DEFAULT '{}' NOT NULL,
	`retention_days` integer,
	`credentials` text,
	`account` text,
	`credential_hints` text NOT NULL,
	`verify_token` text,
	`identity_secret` text,
	`identity_previous` text,
	`identity_previous_until` integer,
	`identity_by` text,
	`identity_previous_by` text,
	`created_at` integer NOT NULL,
	`erasing_at` integer,
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `channels_by_organization` ON `channels` (`organization_id`,`created_at`,`id`);--> statement-breakpoint
CREATE INDEX `channels_by_account` ON `channels` (`organization_id`,`account`);--> statement-breakpoint
CREATE TABLE `ended_sessions` (
	`id` text PRIMARY KEY NOT NULL,
	`until` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `members` (
	`id` text PRIMARY KEY NOT NULL,
	`organization_id` text NOT NULL,
	`name` text NOT NULL,
	`email` text,
	`permissions` text DEFAULT '["chats:read","chats:write","messages:read","messages:send"]' NOT NULL,
	`sessions_since` integer DEFAULT 0 NOT NULL,
	`sign_in_hash` text,
	`sign_in_until` integer,
	`sign_in_by` text,
	`created_by` text DEFAULT 'operator' NOT NULL,
	`set_by` text,
	`email_by` text,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `members_by_organization` ON `members` (`organization_id`,`created_at`,`id`);--> statement-breakpoint
CREATE INDEX `members_by_email` ON `members` (lower("email")) WHERE "members"."email" is not null;--> statement-breakpoint
CREATE TABLE `organizations` (
	`id` text PRIMARY KEY NOT NULL,
	`name` text NOT NULL,
	`jurisdiction` text,
	`region` text,
	`limits` text DEFAULT '{}' NOT NULL,
	`self_service` text,
	`created_at` integer NOT NULL,
	`erasing_at` integer
);
--> statement-breakpoint
CREATE TABLE `sign_ins` (
	`organization_id` text NOT NULL,
	`made_by` text NOT NULL,
	`member_id` text NOT NULL,
	`at` integer NOT NULL,
	`until` integer NOT NULL,
	PRIMARY KEY(`organization_id`, `made_by`, `member_id`),
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `sign_ins_by_end` ON `sign_ins` (`until`);--> statement-breakpoint
CREATE TABLE `templates` (
	`id` text PRIMARY KEY NOT NULL,
	`organization_id` text NOT NULL,
	`name` text NOT NULL,
	`language` text NOT NULL,
	`body` text NOT NULL,
	`waba_id` text,
	`components` text,
	`parameter_format` text,
	`network` text,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `templates_by_organization` ON `templates` (`organization_id`,`created_at`,`id`);--> statement-breakpoint
CREATE UNIQUE INDEX `templates_by_account` ON `templates` (`organization_id`,`waba_id`,`name`,`language`);--> statement-breakpoint
CREATE TABLE `used_codes` (
	`hash` text PRIMARY KEY NOT NULL,
	`until` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `waiting_acts` (
	`id` text PRIMARY KEY NOT NULL,
	`organization_id` text NOT NULL,
	`act` text NOT NULL,
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `waiting_acts_by_organization` ON `waiting_acts` (`organization_id`,`id`);--> statement-breakpoint
CREATE TABLE `webhooks` (
	`id` text PRIMARY KEY NOT NULL,
	`organization_id` text NOT NULL,
	`url` text NOT NULL,
	`description` text,
	`secret` text NOT NULL,
	`previous_secret` text,
	`previous_until` integer,
	`types` text,
	`channels` text,
	`payload` text NOT NULL,
	`per_second` integer NOT NULL,
	`concurrency` integer NOT NULL,
	`version` integer NOT NULL,
	`created_by` text NOT NULL,
	`set_by` text,
	`url_by` text,
	`created_at` integer NOT NULL,
	`erasing_at` integer,
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `webhooks_by_organization` ON `webhooks` (`organization_id`,`created_at`,`id`);