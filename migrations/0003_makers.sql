CREATE TABLE `ended_sessions` (
	`id` text PRIMARY KEY NOT NULL,
	`until` integer NOT NULL
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
ALTER TABLE `api_keys` ADD `set_by` text;--> statement-breakpoint
ALTER TABLE `channels` ADD `identity_by` text;--> statement-breakpoint
ALTER TABLE `channels` ADD `identity_previous_by` text;--> statement-breakpoint
ALTER TABLE `members` ADD `sign_in_by` text;--> statement-breakpoint
ALTER TABLE `members` ADD `created_by` text DEFAULT 'operator' NOT NULL;--> statement-breakpoint
ALTER TABLE `members` ADD `set_by` text;--> statement-breakpoint
ALTER TABLE `webhooks` ADD `set_by` text;