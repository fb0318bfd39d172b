CREATE TABLE `replies` (
	`id` text PRIMARY KEY NOT NULL,
	`organization_id` text NOT NULL,
	`name` text NOT NULL,
	`shortcut` text,
	`folded_shortcut` text,
	`content` text NOT NULL,
	`created_by` text DEFAULT 'operator' NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `replies_by_organization` ON `replies` (`organization_id`,`created_at`,`id`);--> statement-breakpoint
CREATE UNIQUE INDEX `replies_by_shortcut` ON `replies` (`organization_id`,`folded_shortcut`);