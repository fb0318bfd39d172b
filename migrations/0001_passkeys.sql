CREATE TABLE `passkeys` (
	`id` text PRIMARY KEY NOT NULL,
	`organization_id` text NOT NULL,
	`member_id` text NOT NULL,
	`credential_id` text NOT NULL,
	`host` text NOT NULL,
	`public_key` text NOT NULL,
	`counter` integer NOT NULL,
	`name` text NOT NULL,
	`link_by` text,
	`created_at` integer NOT NULL,
	`last_used_at` integer,
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`member_id`) REFERENCES `members`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `passkeys_by_credential` ON `passkeys` (`credential_id`);--> statement-breakpoint
CREATE INDEX `passkeys_by_member` ON `passkeys` (`member_id`,`created_at`,`id`);--> statement-breakpoint
CREATE INDEX `passkeys_by_link` ON `passkeys` (`organization_id`,`link_by`) WHERE "passkeys"."link_by" is not null;--> statement-breakpoint
ALTER TABLE `members` ADD `passkeys` integer DEFAULT 0 NOT NULL;